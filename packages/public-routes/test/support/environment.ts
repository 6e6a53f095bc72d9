/** Environment variables for as long as a function runs. */

/** Sets them, or unsets those that are undefined, and puts back what was there. */
export async function withEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
  run: () => Promise<unknown>,
): Promise<void> {
  const former = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]))
  setAll(variables)
  try {
    await run()
  } finally {
    setAll(former)
  }
}

/** For `expectAccess`, also where the suite runs in continuous integration. */
export const writing = { UPDATE_SNAPSHOTS: '1', CI: undefined }

function setAll(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}
