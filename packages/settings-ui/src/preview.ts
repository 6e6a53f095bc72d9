/** What settings change about the page itself: it shows there while it is entered, for its author alone. */

export const plainSlots = ['title', 'accent', 'banner', 'theme', 'density'] as const

/** A part of the page that a setting decides. */
export type PreviewSlot = (typeof plainSlots)[number] | 'logo'

/** The slot of a setting; for the logo also the image of each value: a path of this origin or a `data:` URL. */
export type PreviewTarget =
  | (typeof plainSlots)[number]
  | { readonly slot: 'logo'; readonly values: Readonly<Record<string, string>> }

/** Settings that are previewed, by key: `{ 'app.title': 'title', 'app.primary_color': 'accent' }`. Secrets and System settings never are. */
export type Preview = Readonly<Record<string, PreviewTarget>>

export function slotOf(target: PreviewTarget): PreviewSlot {
  return typeof target === 'string' ? target : target.slot
}
