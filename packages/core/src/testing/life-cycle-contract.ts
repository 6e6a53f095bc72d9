/** What the contract of transports asks where an application begins and ends: an event meets its module between its `onReady` hook and its `onClose` hook. */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { events } from '../events/plugin.ts'
import type { EventTransport } from '../events/transport.ts'
import { defineModule } from '../modules/module.ts'
import { modules } from '../modules/plugin.ts'
import { type Bench, type Contract, handlerClass, Happened, recordTraces } from './transport-harness.ts'

interface TrialOptions {
  readonly handle?: (event: Happened, owner: FastifyInstance) => unknown
  readonly onReady?: () => unknown
  readonly onClose?: (owner: FastifyInstance) => unknown
}

type Trial = Awaited<ReturnType<typeof openTrial>>

/** What a rule of the life cycle works with. */
interface TrialBench extends Bench {
  open(options?: TrialOptions): Promise<Trial>
}

/**
 * Makes an application, not ready yet, with one module, whose handler uses what the module opens in `onReady` and closes in
 * `onClose`. The application itself has the events, or a scope of it: the `owner`.
 */
async function openTrial(transport: EventTransport, isInScope: boolean, options: TrialOptions = {}) {
  /** What was logged at level error. */
  const errors: { readonly msg: string; readonly count?: number }[] = []
  const write = (line: string) => void errors.push(JSON.parse(line) as { msg: string })
  const app = Fastify({ logger: { level: 'error', stream: { write } } })
  const { tracing, deliveries } = recordTraces()
  /** The numbers of the events that were handled. */
  const handled: number[] = []
  /** The numbers of those that met the module before it was ready, or after it had closed. */
  const tooEarlyOrLate: number[] = []
  let owner: FastifyInstance = app
  let isOpen = false
  const use = (number: number) => void (isOpen || tooEarlyOrLate.push(number))
  const handle = async (event: Happened) => {
    use(event.number)
    await options.handle?.(event, owner)
    use(event.number)
    handled.push(event.number)
  }
  const resource = defineModule({
    name: 'resource',
    handlers: [handlerClass('OneHandler', handle, Happened)] as never,
    async plugin(scope) {
      scope.addHook('onReady', async () => {
        await options.onReady?.()
        isOpen = true
      })
      scope.addHook('onClose', async () => {
        isOpen = false
        await options.onClose?.(owner)
      })
    },
  })
  const fill = async (scope: FastifyInstance) => {
    owner = scope
    await scope.register(events, { transport, tracing })
    await scope.register(modules, { modules: [resource] })
  }
  await (isInScope ? app.register(fill) : fill(app))
  /** The attempts that were made: 1 is the first one. */
  const attempts = () => deliveries.map(({ attempt }) => attempt)
  return { app, owner, handled, tooEarlyOrLate, errors, attempts }
}

async function publish({ events }: FastifyInstance, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) await events.publish(new Happened({ number }))
}

const oneTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

async function fewTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn()
}

/** Each event was handled, by this application or by the next one on the same storage, at its first attempt. */
async function expectRest(
  { open, until }: TrialBench,
  closed: Trial,
  numbers: readonly number[],
): Promise<void> {
  const next = await open()
  await next.app.ready()
  await until(() => numbers.every((number) => [...closed.handled, ...next.handled].includes(number)))
  await next.app.close()
  assert.deepEqual([...new Set([...closed.attempts(), ...next.attempts()])], [1], 'no attempt is counted')
  assert.deepEqual(next.tooEarlyOrLate, [])
  assert.deepEqual(await next.owner.events.deadLetters?.list().catch(() => []), [])
}

/** Each rule puts a module around the transport, in the application itself and in a scope of it. */
export function lifeCycle(contract: Contract): void {
  for (const isInScope of [false, true]) {
    defineRules((rule, run) =>
      contract(isInScope ? `in a scope: ${rule}` : rule, (bench) =>
        run({ ...bench, open: (options) => openTrial(bench.create(), isInScope, options) }),
      ),
    )
  }
}

function defineRules(contract: (rule: string, run: (bench: TrialBench) => Promise<void>) => void): void {
  contract('no event is delivered before the last onReady, however many wait', async (bench) => {
    const ready: string[] = []
    const slowly = async (name: string) => {
      await fewTurns()
      await delay(30)
      ready.push(name)
    }
    const trial = await bench.open({
      onReady: () => slowly('module'),
      handle: () => assert.deepEqual(ready, ['module', 'child']),
    })
    await trial.app.register(async (child) => void child.addHook('onReady', () => slowly('child')))
    await publish(trial.owner, oneTo(50))
    await trial.app.ready()
    await bench.until(() => trial.handled.length === 50)
    await trial.app.close()
    assert.deepEqual(trial.tooEarlyOrLate, [])
    assert.equal(trial.owner.events.stats().failed, 0)
  })

  contract('an application that refuses to start delivers nothing', async (bench) => {
    const trial = await bench.open()
    await trial.app.register(async (child) => {
      child.addHook('onReady', async () => {
        await fewTurns()
        throw new Error('refused')
      })
    })
    await publish(trial.owner, oneTo(20))
    await assert.rejects(async () => trial.app.ready(), /refused/)
    await fewTurns()
    await trial.app.close()
    assert.deepEqual(trial.attempts(), [])
    if (bench.isDurable) await expectRest(bench, trial, oneTo(20))
  })

  contract(
    'what runs or waits when the application closes meets no module that has closed',
    async (bench) => {
      const trial = await bench.open({
        handle: () => delay(20),
        onClose: () => delay(60), // longer than a look at the queue takes, and than a handler
      })
      await trial.app.ready()
      await publish(trial.owner, oneTo(100))
      await bench.until(() => trial.attempts().length > 0)
      await trial.app.close()
      assert.deepEqual(trial.tooEarlyOrLate, [])
      assert.equal(trial.owner.events.stats().failed, 0)
      assert.deepEqual(trial.errors, [])
      if (bench.isDurable) await expectRest(bench, trial, oneTo(100))
      else assert.deepEqual(trial.handled, oneTo(100))
    },
  )

  contract('what handlers publish while the application closes is delivered or kept', async (bench) => {
    const last = 10
    const trial = await bench.open({
      async handle({ number }, owner) {
        await delay(2)
        if (number < last) await publish(owner, [number + 1])
      },
    })
    await trial.app.ready()
    await publish(trial.owner, [1])
    await bench.until(() => trial.attempts().length > 0)
    await trial.app.close()
    assert.deepEqual(trial.tooEarlyOrLate, [])
    if (!bench.isDurable) return assert.deepEqual(trial.handled, oneTo(last))
    const next = trial.handled.length + 1
    return expectRest(bench, trial, oneTo(next))
  })

  contract('what modules publish while they close is kept, or counted in the log', async (bench) => {
    const trial = await bench.open({ onClose: (owner) => publish(owner, [1, 2]) })
    await trial.app.ready()
    await trial.app.close()
    assert.deepEqual(trial.handled, [])
    if (bench.isDurable) await expectRest(bench, trial, [1, 2])
    else
      assert.deepEqual(
        trial.errors.map(({ msg, count }) => [msg, count]),
        [['events were not handled before the end', 2]],
      )
  })
}
