// P10–P12: what reading a setting costs in process, and what cached users weigh.
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify from 'fastify'
import { measure, report } from './support/measure.mjs'

const users = Array.from({ length: 100_000 }, (_, index) => `user-${index}`)
const few = users.slice(0, 100)
const options = (scope, index) => ({ displayName: 'Setting', scope, default: `default ${index}` })
const tokens = Array.from({ length: 200 }, (_, index) =>
  index % 2
    ? setting.text(`user.key${index}`, options(SettingScope.User, index))
    : setting.text(`app.key${index}`, options(SettingScope.Application, index)),
)
const [application, own] = [tokens[40], tokens[41]]
const keys = tokens.map(({ key }) => key)

await memory('one value each', 1)
await memory('five values each', 5)
await reads()

/** Users of a store that answers at once, so that only our own work is measured. */
async function appWith(valuesOf) {
  const app = Fastify()
  const row = (userId, key) => ({
    scope: 2,
    userId,
    key,
    value: `"${userId.slice(-1)}"`,
    sealed: false,
    revision: 1,
    updatedAt: 1,
    updatedBy: null,
  })
  const store = { ...memoryStore(), readUser: async (userId) => valuesOf.map(({ key }) => row(userId, key)) }
  await app.register(settings, { definitions: tokens, store, userCache: 250_000, routes: false })
  await app.ready()
  return app
}

async function memory(name, count) {
  if (!globalThis.gc) return console.log('memory: run with --expose-gc')
  const app = await appWith(tokens.filter(({ scope }) => scope === SettingScope.User).slice(20, 20 + count))
  const subjects = users.slice(0, users.length / count)
  globalThis.gc()
  const before = process.memoryUsage().heapUsed
  for (const user of subjects) await app.settings.forUser(user)
  globalThis.gc()
  report(`P12 memory, ${name}`, [
    {
      values: subjects.length * count,
      megabytes: ((process.memoryUsage().heapUsed - before) / 1e6).toFixed(1),
      goal: 9,
    },
  ])
  await app.close()
}

async function reads() {
  const app = await appWith([own])
  const s = app.settings
  await s.setSetting(application.key, 'stored', SettingScope.Application)
  for (const user of users) await s.forUser(user)
  const readers = await Promise.all(users.slice(0, 4096).map((user) => s.forUser(user)))
  const map = new Map(keys.map((key) => [key, { value: key }]))
  const n = 200_000
  let sink = 0
  const loop = (read) => () => {
    for (let index = 0; index < n; index++) sink += read(index) === null ? 1 : 0
    return n
  }
  const asyncLoop = (read) => async () => {
    for (let index = 0; index < n / 10; index++) sink += (await read(index)) === null ? 1 : 0
    return n / 10
  }
  const ns = await measure({
    'floor: one Map.get': loop(() => map.get(application.key).value),
    'application, token': loop(() => s.get(application)),
    'application, key': loop(() => s.get(application.key)),
    'application, 100 tokens in turn': loop((index) => s.get(tokens[(index % 100) * 2])),
    'user’s own, token, 4096 readers': loop((index) => readers[index & 4095].get(own)),
    'user’s own, key, 4096 readers': loop((index) => readers[index & 4095].get(own.key)),
    'forUser + get, 100,000 users': asyncLoop(async (index) =>
      (await s.forUser(users[(index * 7919) % users.length])).get(own),
    ),
    'contract: getSettingAs, application': asyncLoop(() =>
      s.getSettingAs(application.key, SettingScope.Application),
    ),
    'contract: resolveUserSettingElement, 100 users': asyncLoop((index) =>
      s.resolveUserSettingElement(own.key, few[index % 100]),
    ),
    'contract: resolveUserSettingElement, 100,000 users': asyncLoop((index) =>
      s.resolveUserSettingElement(own.key, users[(index * 7919) % users.length]),
    ),
  })
  report(
    'P10 and P11 reads',
    Object.entries(ns).map(([what, value]) => ({
      what,
      ns: value.toFixed(1),
      'times the floor': (value / ns['floor: one Map.get']).toFixed(1),
    })),
  )
  if (sink === 1) console.log(sink)
  await app.close()
}
