// P10–P12: what reading a setting costs in process, with few and many definitions, and what cached users weigh.
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify from 'fastify'
import { measure, report, size } from './support/measure.mjs'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')

const users = Array.from({ length: size(100_000, 5_000) }, (_, number) => `user-${number}`)

const goals = {
  'application value by token': 10,
  'own value of a recent user by token': 100,
  'own value of a recent user by key': 150,
  'inherited value of a recent user by token': 100,
  'inherited value of a recent user by key': 150,
  'own value of any user by token': 100,
  'promised: application value': 'the one by key + 350',
  'promised: own value of a recent user': 'the one by key + 350',
}

report('P12 memory of cached user values', [await memory(1), await memory(5)])
report('P10 and P11 reads with 1000 definitions', await reads(1000))
report('P10 and P11 reads with 10 definitions', await reads(10))

/** Settings of users and of the application in turn. */
function makeTokens(count) {
  return Array.from({ length: count }, (_, number) => {
    const scope = number % 2 ? SettingScope.User : SettingScope.Application
    return setting.text(`bench.key-${number}`, { displayName: 'Key', scope, default: `default ${number}` })
  })
}

/** An application whose users each have stored some settings, in a store that answers at once. */
async function appWith(definitions, stored) {
  const app = Fastify()
  const rowOf = (owner, key) => ({
    scope: SettingScope.User,
    owner,
    key,
    value: `"${owner.slice(-1)}"`,
    encrypted: false,
    revision: 1,
    updatedAt: 1,
    updatedBy: null,
  })
  const inner = memoryStore()
  const read = async ({ id }) => stored.map(({ key }) => rowOf(id, key))
  const store = { ...inner, owned: { ...inner.owned, read } }
  await app.register(settings, { definitions, store, maxCachedUsers: 2.5 * users.length, routes: false })
  await app.ready()
  return app
}

async function memory(valuesOfEach) {
  const tokens = makeTokens(200)
  const stored = tokens.filter(({ scope }) => scope === SettingScope.User).slice(20, 20 + valuesOfEach)
  const app = await appWith(tokens, stored)
  const subjects = users.slice(0, users.length / valuesOfEach)
  const before = await heapUsed()
  for (const user of subjects) await app.settings.forUser(user)
  const megabytes = ((await heapUsed()) - before) / 1e6
  await app.close()
  return {
    'values of each user': valuesOfEach,
    'MB per 100,000 values': ((megabytes * 100_000) / (subjects.length * valuesOfEach)).toFixed(1),
    goal: 27,
  }
}

/** Several times, because what one collection frees may be what held something else. */
async function heapUsed() {
  for (let time = 0; time < 4; time++) {
    gc()
    await turn()
  }
  return process.memoryUsage().heapUsed
}

async function reads(count) {
  const tokens = makeTokens(count)
  const [application, own] = tokens
  const unset = tokens.at(-1) // of users, who all left it at its default
  const app = await appWith(tokens, [own])
  const { settings } = app
  const { contract } = settings
  await contract.setSetting(application.key, 'stored', SettingScope.Application)
  const readers = []
  for (const user of users) readers.push(await settings.forUser(user))
  const byKey = new Map(tokens.map(({ key }) => [key, { value: key }]))
  const byUser = new Map(users.map((user) => [user, { value: user }]))
  const { get } = settings
  const resolve = (user) => contract.resolveUserSettingElement(own.key, user)

  const subjects = {
    'Map.get of one key': repeat(() => byKey.get(application.key).value),
    'Map.get of any user': repeat((number) => byUser.get(anyOf(users, number)).value),
    'application value by token': repeat(() => get(application)),
    'application value by key': repeat(() => get(application.key)),
    'own value of a recent user by token': repeat((number) => recentOf(readers, number).get(own)),
    'own value of a recent user by key': repeat((number) => recentOf(readers, number).get(own.key)),
    'inherited value of a recent user by token': repeat((number) => recentOf(readers, number).get(unset)),
    'inherited value of a recent user by key': repeat((number) => recentOf(readers, number).get(unset.key)),
    'own value of any user by token': repeat((number) => anyOf(readers, number).get(own)),
    'forUser() of any user, and get': repeatAwaited(async (number) =>
      (await settings.forUser(anyOf(users, number))).get(own),
    ),
    'promised: application value': repeatAwaited(() =>
      contract.getSettingAs(application.key, application.scope),
    ),
    'promised: own value of a recent user': repeatAwaited((number) => resolve(recentOf(users, number))),
    'promised: own value of any user': repeatAwaited((number) => resolve(anyOf(users, number))),
  }
  const ns = await measure(subjects)
  await app.close()
  return Object.entries(ns).map(([what, value]) => ({ what, ns: value.toFixed(1), goal: goals[what] ?? '' }))
}

/** Users at random: most are in no cache of the processor. */
function anyOf(list, number) {
  return list[(number * 7919) % list.length]
}

/** The users of the last moments, in turn. */
function recentOf(list, number) {
  return list[number % Math.min(list.length, 1000)]
}

function repeat(read, times = size(200_000, 2_000)) {
  return () => {
    for (let number = 0; number < times; number++) keep(read(number))
    return times
  }
}

function repeatAwaited(read, times = size(20_000, 200)) {
  return async () => {
    for (let number = 0; number < times; number++) keep(await read(number))
    return times
  }
}

/** Uses what was read, so that reading it cannot be left out. */
function keep(value) {
  if (value === null) throw new Error('every setting here has a value')
}
