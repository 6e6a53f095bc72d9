/** What texts are, by name. */

/** Texts by plural category of `Intl.PluralRules`; `other` is for all that have none of their own. */
export type Plural = { readonly [C in Intl.LDMLPluralRule]?: string } & { readonly other: string }

/** The texts of names in a file, in any language. */
export type TextsOf<Texts> = { readonly [N in keyof Texts]: Texts[N] extends string ? string : Plural }
