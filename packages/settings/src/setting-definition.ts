/** What a setting is: scopes, types and the definition that modules declare. */

/** Where a setting applies; integers on the wire. */
export const SettingScope = { System: 0, Application: 1, User: 2, Tenant: 3 } as const
export type SettingScope = (typeof SettingScope)[keyof typeof SettingScope]

/** The scopes whose values belong to nobody. */
export type SharedScope = typeof SettingScope.System | typeof SettingScope.Application

/** The scopes whose values belong to somebody. */
export type OwnedScope = Exclude<SettingScope, SharedScope>

/** Whether a value of this scope belongs to somebody. */
export function isOwned(scope: SettingScope): scope is OwnedScope {
  return scope >= SettingScope.User
}

/** How a value is edited and checked; integers on the wire. */
export const SettingType = {
  Text: 0,
  Number: 1,
  Bool: 2,
  Json: 3,
  Select: 4,
  Color: 5,
  Url: 6,
  Email: 7,
  Password: 8,
  MultilineText: 9,
  DateTime: 10,
} as const
export type SettingType = (typeof SettingType)[keyof typeof SettingType]

/** What JSON can carry. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [member: string]: JsonValue }

/** A JSON Schema as plain data. */
export type ValueSchema = Readonly<Record<string, unknown>>

/** One member of a Select, as people read it. */
export interface SettingOption<V extends string = string> {
  /** The allowed value that it stands for. */
  readonly value: V
  readonly label: string
  readonly description?: string | null
}

/** Shows a setting only while another has a certain value. */
interface ShowWhen {
  /** The key of the other setting, which may not be sensitive. */
  readonly key: string
  /** A value that fits the other setting; null where it has none. */
  readonly equals: JsonValue
}

/** Members of a definition that only user interfaces look at: nothing here decides what may be read or written. */
interface SettingHints {
  /** The members of a Select in the order to show them. They are its allowed values where `allowedValues` is left out. */
  readonly options?: readonly SettingOption[] | null
  /** What a number counts: `seconds`, `px`. 1–30 characters. */
  readonly unit?: string | null
  /** Other words that people look for it by: `dark mode`, `logo`. For the search of user interfaces, never shown as a list. At most 20, each 1–50 characters. @default [] */
  readonly keywords?: readonly string[]
  /** Left out of user interfaces; the API serves it like any other. @default false */
  readonly hidden?: boolean
  /** For experts. @default false */
  readonly advanced?: boolean
  readonly showWhen?: ShowWhen | null
  /** Shown for confirmation before a change is saved: what will happen then. */
  readonly confirm?: string | null
  /** A change takes effect at the next start. @default false */
  readonly restart?: boolean
  /** Where to read more; `https:` only. */
  readonly docsUrl?: string | null
  /** The message for people whose text does not match the pattern: `Enter 2 to 10 capital letters.` */
  readonly patternHint?: string | null
}

/** A setting as a module declares it. Read-only at run time. */
export interface SettingDefinition extends SettingHints {
  /** Unique; `module.category.name`, dot-separated, 1–100 characters. */
  readonly key: string
  readonly displayName: string
  readonly description?: string | null
  /** Groups settings in the administration; independent of the key. */
  readonly group?: string | null
  readonly scope: SettingScope
  /** Raw text, decoded by type: `587`, `true`, `{"a":1}` or the string itself; never JSON-encoded text. */
  readonly defaultValue?: string | null
  readonly type: SettingType
  /** The members of a Select. */
  readonly allowedValues?: readonly string[] | null
  /** Inclusive bounds of a Number. */
  readonly min?: number | null
  readonly max?: number | null
  /**
   * A regular expression in the syntax of JavaScript with the flag u, without lookaround and back-references; searched,
   * unanchored, in Text, Password and MultilineText.
   */
  readonly pattern?: string | null
  /** Of a Text, Password or MultilineText, in UTF-16 units. @default as long as its bytes, and its pattern, allow */
  readonly maxLength?: number | null
  /**
   * Of the values of a Json: a JSON Schema, as plain data or of TypeBox, checked by Ajv as Fastify sets it up, or a validator
   * of Standard Schema (Zod, Valibot, ArkType), whose output is stored. Lists and flat objects are edited as forms.
   */
  readonly schema?: object | null
  /** @default false */
  readonly required?: boolean
  /** Never shown in responses, events, history or logs. @default false */
  readonly sensitive?: boolean
  /** Sort order within the group. @default 0 */
  readonly order?: number
  readonly placeholder?: string | null
  /** Readable without signing in, in `GET /api/settings/public`. @default false */
  readonly public?: boolean
  /** Read by OpenFeature, too: from `@fastify-modular/settings/openfeature`. Needs a default; never sensitive. @default false */
  readonly flag?: boolean
  /**
   * The environment variable that fixes the value where it is set, or where `<name>_FILE` names a file of at most 64 KiB
   * that has it: `SMTP_HOST`. Read once, at boot, in the form of `defaultValue`.
   */
  readonly env?: string | null
  /** The permission that writing the shared value needs beside `Settings.Update`: `Mail.Configure`. Own values of users need it not. */
  readonly writePermission?: string | null
  /**
   * A further rule of your own for values that satisfy the rest of the definition: returns messages that say what to
   * enter, or nothing. Synchronous, and never sent over HTTP. A method, so that a rule about numbers fits a Number.
   */
  validate?(value: JsonValue): RuleResult
}

/** What a rule returns: messages that say what to enter, or nothing. */
export type RuleResult = string | readonly string[] | void

/** A definition with every member present but `validate`, frozen: what the registry returns and HTTP shows. */
export type CompleteDefinition = Required<{
  readonly [K in Exclude<keyof SettingDefinition, 'validate' | 'options' | 'schema'>]: Exclude<
    SettingDefinition[K],
    undefined
  >
}> & {
  readonly options: readonly Required<SettingOption>[] | null
  /** Of a validator the JSON Schema of what it takes; null where it cannot say, and for sensitive settings. */
  readonly schema: ValueSchema | null
}

/**
 * Whether both databases keep a text as it is: PostgreSQL refuses NUL, and an unpaired surrogate has no form in UTF-8,
 * so that two different texts would become one.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** The header by which our client names the tenant that it wants; the host checks it. */
export const tenantHeader = 'settings-tenant'

/**
 * The entity tag of a version (RFC 9110, 8.8.3): `"r12"`; `"r0"` for what is unset. Of a tenant's value `"r12-acme"`: two
 * tenants may have equal versions.
 */
export function toEtag(revision: number, tenant?: string): string {
  return tenant === undefined ? `"r${revision}"` : `"r${revision}-${encodeURIComponent(tenant)}"`
}
