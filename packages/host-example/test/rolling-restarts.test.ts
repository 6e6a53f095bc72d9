/**
 * Instances are replaced one by one behind a balancer while clients go on. `RESTARTS=10` is the long form:
 * `npm run prove:restarts`.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { startBalancer } from '@fastify-modular/test-support/balancer'
import { freePort } from '@fastify-modular/test-support/free-port'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { type Ask, type Person, person, startHost } from './host.js'

const restarts = Number(process.env['RESTARTS'] ?? 2)
/** How long an instance answers after SIGTERM, in seconds: the balancer must notice within it, on a busy machine, too. */
const drain = 5

const body = { title: 'Written during a restart' }
const requests: readonly (readonly [string, Ask?])[] = [
  ['/health/live'],
  ['/', { headers: { accept: 'text/html' } }],
  ['/api/notes', { method: 'POST', body }],
  ['/api/settings?scope=1'],
  ['/api/settings/me', { method: 'PUT', body: { key: 'app.theme', value: 'dark' } }],
  ['/api/settings/me', { method: 'PUT', body: { key: 'app.theme', value: 'light' } }],
  ['/api/settings/me'],
  ['/nowhere'],
]

test(
  `${restarts} restarts of two instances behind a balancer show no client an error`,
  { timeout: 300_000 + restarts * 60_000 },
  async (t) => {
    const { url: DATABASE_URL } = await testDatabase(t)
    const ports = [await freePort(), await freePort()]
    const start = (port: number) =>
      startHost(t, { DATABASE_URL, PORT: String(port), DRAIN_SECONDS: String(drain), LOG_LEVEL: 'warn' })
    const hosts = await Promise.all(ports.map(start))
    const balancer = await startBalancer({ ports, interval: drain * 200, keepIdle: drain * 800 })
    t.teardown(() => balancer.close())
    const names = ['alice', 'bob', 'editor', 'admin']
    const people = await Promise.all(
      hosts.slice(0, 1).flatMap((host) => names.map((name) => host.signIn(name))),
    )

    const errors: string[] = []
    const answers = new Map<string, number>()
    const end = new AbortController()
    async function work(who: Person): Promise<void> {
      for (let at = 0; !end.signal.aborted; at++) {
        await pause(40) // clients that never pause would leave a small machine no time for the restarts
        const [path, ask] = requests[at % requests.length] ?? ['/']
        const answer = await who
          .ask(path, ask)
          .catch((error: unknown) => ({ status: 0, text: String(error), headers: new Headers() }))
        if (answer.status === 0 || answer.status >= 500)
          errors.push(`${ask?.method ?? 'GET'} ${path}: ${answer.status} ${answer.text}`)
        const instance = answer.headers.get('x-instance') ?? 'none'
        answers.set(instance, (answers.get(instance) ?? 0) + 1)
      }
    }
    const through = people.map((one) => person(balancer.url, one.cookie))
    const working = through.map(work)

    for (let number = 0; number < restarts; number++) {
      const at = number % ports.length
      t.same(await hosts[at]?.stop('SIGTERM', 120_000), { code: 0, signal: null })
      const fresh = await start(ports[at] ?? 0)
      hosts[at] = fresh
      // The next instance goes when the balancer has seen that this one is back.
      while (balancer.ready.length < ports.length && errors.length === 0)
        await through[0]?.ask('/health/live')
    }
    end.abort()
    await Promise.all(working)
    t.same(errors, [])
    for (const port of ports) t.ok((answers.get(String(port)) ?? 0) > 0, `${port} answered`)
    t.comment(
      `${[...answers.values()].reduce((sum, count) => sum + count, 0)} requests, ${errors.length} errors`,
    )
  },
)
