/** What every event transport must do; run it over your own. Needs no test framework: failures are assertion errors. */
import { durableTransport } from './transport-contract/durable-transport.ts'
import { everyTransport } from './transport-contract/every-transport.ts'
import type { Contract, TransportFixture } from './transport-contract/support.ts'

/** Registers one test: tap's and node:test's `test` fit. */
export type DefineTest = (name: string, run: () => Promise<void>) => unknown

/** Defines the conformance tests of one transport, each on a fixture of its own. */
export function eventTransportContract(
  test: DefineTest,
  createFixture: () => TransportFixture | Promise<TransportFixture>,
): void {
  const contract: Contract = (rule, run) =>
    test(rule, async () => {
      const fixture = await createFixture()
      try {
        await run(fixture)
      } finally {
        await fixture.dispose()
      }
    })
  everyTransport(contract)
  durableTransport(contract)
}
