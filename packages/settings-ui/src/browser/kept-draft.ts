/** What was entered for a page that is yet to come, within this tab: unsaved there, never in an address. */

type Inputs = Readonly<Record<string, string | boolean>>

/** What a palette hands over to the administration. */
const handedOver = 'fm-draft'

/** Browsers may refuse to store anything: pages go on without it. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}

/** @param name of the page that they are for; the administration has an empty one */
export function keepDrafts(name: string, inputs: Inputs): void {
  attempt(() => sessionStorage.setItem(handedOver + name, JSON.stringify(inputs)))
}

/** Once; nothing where nothing was kept. */
export function takeDrafts(name: string): Inputs {
  const kept = attempt(() => {
    const text = sessionStorage.getItem(handedOver + name)
    sessionStorage.removeItem(handedOver + name)
    return JSON.parse(text ?? 'null') as Inputs | null // of `keepDrafts`
  })
  return kept ?? {}
}
