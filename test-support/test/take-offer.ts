/** Makes the process of a test one that belongs to a run. */
import type { Test } from 'tap'

/** Until the test ends, servers are asked for at this address; without one this file runs by itself. */
export function takeOffer(t: Test, address: string | undefined): void {
  const set = (value: string | undefined) => {
    if (value === undefined) delete process.env['TEST_SERVERS']
    else process.env['TEST_SERVERS'] = value
  }
  const before = process.env['TEST_SERVERS']
  t.teardown(() => set(before))
  set(address)
}
