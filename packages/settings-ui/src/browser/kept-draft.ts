/** What was entered for a page that is yet to come, within this tab: unsaved there, never in an address. */

type Inputs = Readonly<Record<string, string | boolean>>

/** What a palette hands over to the administration. */
const handedOver = 'fm-draft'

/** @param name of the page that they are for; the administration has an empty one */
export function keepDrafts(name: string, inputs: Inputs): void {
  try {
    sessionStorage.setItem(handedOver + name, JSON.stringify(inputs))
  } catch {
    // Browsers may refuse: the page opens without it.
  }
}

/** Once; nothing where nothing was kept. */
export function takeDrafts(name: string): Inputs {
  try {
    const kept = sessionStorage.getItem(handedOver + name)
    sessionStorage.removeItem(handedOver + name)
    return kept === null ? {} : (JSON.parse(kept) as Inputs) // of `keepDrafts`
  } catch {
    return {}
  }
}
