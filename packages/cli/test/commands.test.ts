/** Every command, by function, on both engines. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { setting, SettingScope } from '@fastify-modular/settings'
import { type Test, test } from 'tap'
import { commands } from '#src/program.js'
import { createShop, definitions, Ordered } from './fixtures/shop.ts'
import { kindsOf, under } from './under.ts'

const engines: Readonly<Record<string, (t: Test) => Promise<string>>> = {
  SQLite: async (t) => join(await folder(t), 'shop.db'),
  PostgreSQL: async (t) => (await testDatabase(t)).url,
}

async function folder(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'cli-'))
  t.teardown(() => rm(path, { recursive: true, force: true }))
  return path
}

/** A database that an application has served from. */
async function served(
  database: string,
  run: (app: Awaited<ReturnType<typeof createShop>>) => Promise<unknown>,
) {
  const app = await createShop({ database })
  await app.ready()
  await run(app)
  await app.close()
}

for (const [engine, makeDatabase] of Object.entries(engines)) {
  test(`${engine}: tables are missing until migrate has run, and doctor says so`, async (t) => {
    const database = await makeDatabase(t)
    const shop = () => createShop({ database })
    const plan = await under(shop, 'migrate', [], { options: { plan: true } })
    t.equal(plan.exit, 3)
    t.equal(plan.lines?.length, 2, String(plan.lines))
    const sick = await under(shop, 'doctor')
    t.equal(sick.exit, 3)
    t.same(kindsOf(sick), ['missing migration', 'missing migration'])
    await under(async () => {
      const app = await shop()
      await t.rejects(app.events.publish(new Ordered({})), { code: 'FMOD_CORE_QUEUE_MISSING' })
      return app
    }, 'doctor')
    const list = await under(shop, 'settings list')
    t.equal(list.exit, 1, String(list.lines))
    t.match(await under(shop, 'migrate'), { lines: ['The tables are up to date.'] })
    t.equal((await under(shop, 'migrate', [], { options: { plan: true } })).exit, undefined)
    const well = await under(shop, 'doctor')
    t.match(well.rows, [{ kind: 'event without a subscription', text: /shop\.ShipHandler/ }])
    await served(database, async () => {})
    t.match((await under(shop, 'doctor')).lines, ['nothing wrong'])
  })

  test(`${engine}: values are set, read, put back and removed by their types`, async (t) => {
    const database = await makeDatabase(t)
    await served(database, async () => {})
    const shop = () => createShop({ database })
    const value = async (key: string, options = {}) => {
      const { data } = await under(shop, 'settings get', [key], { options })
      return (data as { readonly value: unknown }).value
    }
    const cases: readonly (readonly [key: string, text: string, value: unknown])[] = [
      ['shop.title', 'true', 'true'],
      ['shop.limit', '25', 25],
      ['shop.open', 'false', false],
      ['shop.tags', '["a"]', ['a']],
    ]
    for (const [key, text, expected] of cases) {
      t.match(await under(shop, 'settings set', [key, text]), { lines: [`${key} is set.`] })
      t.same(await value(key), expected)
    }
    const note = { options: { note: 'too few' } }
    await under(shop, 'settings set', ['shop.limit', '30'], note)
    const history = await under(shop, 'settings history', ['shop.limit'])
    t.match(history.rows, [
      { key: 'shop.limit', oldValue: 25, newValue: 30, actor: 'cli:ada', note: 'too few' },
      {},
    ])
    const revision = String(Reflect.get(history.rows?.[0] ?? {}, 'revision'))
    const dry = await under(shop, 'settings revert', [revision], { options: { dryRun: true } })
    t.match(dry, { exit: 3, rows: [{ key: 'shop.limit', oldValue: 30, newValue: 25 }] })
    await under(shop, 'settings revert', [revision])
    t.equal(await value('shop.limit'), 25)
    await under(shop, 'settings unset', ['shop.limit'])
    t.equal(await value('shop.limit'), 10)

    const alice = { options: { user: 'alice' } }
    await under(shop, 'settings set', ['shop.theme', 'dark'], alice)
    t.equal(await value('shop.theme', { user: 'alice' }), 'dark')
    t.match((await under(shop, 'settings list', [], alice)).rows, [{ key: 'shop.theme', value: 'dark' }])
    t.match(await under(shop, 'settings erase-user', ['alice']), { data: { values: 1, history: 1 } })
    t.equal(await value('shop.theme', { user: 'alice' }), 'light')

    const acme = { options: { tenant: 'acme' } }
    await under(shop, 'settings set', ['shop.seats', '50'], acme)
    t.equal(await value('shop.seats', { tenant: 'acme' }), 50)
    t.equal(await value('shop.seats', { tenant: 'other' }), 5)
    t.equal(await value('shop.seats'), 5)
    t.match((await under(shop, 'settings list', [], acme)).rows, [{ key: 'shop.seats', scope: 'tenant' }])
    t.match((await under(shop, 'settings history', ['shop.seats'], acme)).rows, [{ newValue: 50 }])
    t.same((await under(shop, 'settings history', ['shop.seats'])).rows, [])
    await under(shop, 'settings unset', ['shop.seats'], acme)
    t.equal(await value('shop.seats', { tenant: 'acme' }), 5)
    t.match(await under(shop, 'settings erase-tenant', ['acme']), { data: { values: 0, history: 2 } })
    t.same((await under(shop, 'settings history', [], acme)).rows, [])

    const refused: readonly (readonly [string, readonly string[], number])[] = [
      ['settings set', ['shop.limit', 'many'], 2],
      ['settings set', ['shop.limit', '1000'], 1],
      ['settings set', ['shop.open', 'yes'], 2],
      ['settings set', ['shop.tags', '['], 2],
      ['settings set', ['shop.titel', 'x'], 2],
      ['settings set', ['shop.title'], 2],
      ['settings set', ['shop.secret', 'hunter2'], 2],
      ['settings revert', ['x'], 2],
      ['settings revert', ['999'], 2],
      ['settings import', ['no-such-file.json'], 2],
      ['settings copy', ['a', 'b'], 2],
      ['settings get', ['shop.titel'], 2],
      ['settings unset', ['shop.titel'], 2],
      ['events dead-letters replay', ['1'], 2],
    ]
    for (const [name, args, exit] of refused)
      t.equal((await under(shop, name, args)).exit, exit, `${name} ${args.join(' ')}`)
  })

  test(`${engine}: a secret is set from standard input, encrypted anew, and never printed`, async (t) => {
    const database = await makeDatabase(t)
    await served(database, async () => {})
    const keys = ['k1', 'k2'].map((id) => ({
      id,
      key: Buffer.alloc(32, `${id} of the test`).toString('base64'),
    }))
    const shop = (count: number, mode?: 'require') => () =>
      createShop({
        database,
        settings: { encryption: { keys: keys.slice(0, count).toReversed(), ...(mode && { mode }) } },
      })
    await under(shop(0), 'settings set', ['shop.secret'], { stdin: 'hunter2' })
    const plain = await under(shop(1, 'require'), 'doctor')
    t.match(plain.rows, [{ kind: 'plain secret', text: /shop\.secret/ }])
    t.match(await under(shop(1, 'require'), 'settings reencrypt'), {
      data: { reencrypted: 1, unreadable: [] },
    })
    t.match((await under(shop(1, 'require'), 'doctor')).lines, ['nothing wrong'])
    t.match(await under(shop(2), 'settings reencrypt'), { data: { reencrypted: 1 } })
    const unreadable = await under(shop(1), 'doctor')
    t.match(unreadable.rows, [{ kind: 'unreadable secret', text: /k2/ }])
    t.equal((await under(shop(1), 'settings reencrypt')).exit, 1)
    for (const [name, args] of [
      ['settings get', ['shop.secret']],
      ['settings list', []],
      ['settings history', []],
      ['settings export', []],
    ] as const) {
      const report = await under(shop(2), name, args)
      t.equal(report.exit, undefined, name)
      t.notMatch(JSON.stringify(report), 'hunter2', name)
    }
    const blocked = await under(shop(0, 'require'), 'settings set', ['shop.secret'], { stdin: 'x' })
    t.equal(blocked.exit, 1, 'no key could encrypt it')
    t.equal((await under(shop(0, 'require'), 'settings set', ['shop.title', 'x'])).exit, undefined)
  })

  test(`${engine}: values travel in files, to other names, and out of the database`, async (t) => {
    const database = await makeDatabase(t)
    await served(database, (app) => app.settings.set('shop.title' as never, 'Acme' as never))
    const shop = () => createShop({ database })
    const file = join(await folder(t), 'export.json')
    t.match((await under(shop, 'settings export', [file])).rows, [{ file, values: 1, omitted: '' }])
    await under(shop, 'settings unset', ['shop.title'])
    const dry = await under(shop, 'settings import', [file], { options: { dryRun: true } })
    t.match(dry, { exit: 3, rows: [{ change: 'create', key: 'shop.title' }] })
    t.match(await under(shop, 'settings import', [file]), { data: { create: ['shop.title'] } })
    t.equal((await under(shop, 'settings import', [file], { options: { dryRun: true } })).exit, 0)
    const broken = {
      settings: [
        { key: 'shop.limit', scope: 0, value: 5 },
        { key: 'shop.open', scope: 1, value: 'x' },
      ],
    }
    await writeFile(file, JSON.stringify(broken))
    t.equal((await under(shop, 'settings import', [file])).exit, 1)
    t.match(await under(shop, 'settings get', ['shop.limit']), { data: { value: 10 } }, 'all or nothing')
    for (const content of [
      '',
      '[]',
      '{"settings":[{"key":1,"scope":1,"value":1}]}',
      '{"settings":[{"key":"a","scope":2,"value":1}]}',
    ]) {
      await writeFile(file, content)
      t.equal((await under(shop, 'settings import', [file])).exit, 2, content)
    }

    const renamed = setting.text('shop.name', { displayName: 'Name', scope: SettingScope.Application })
    const after = () =>
      createShop({
        database,
        definitions: [...definitions.filter(({ key }) => key !== 'shop.title'), renamed],
      })
    t.match(await under(after, 'settings orphans'), {
      rows: [{ key: 'shop.title', scope: 'application', rows: 1 }],
    })
    t.match((await under(after, 'doctor')).rows, [{ kind: 'orphan' }])
    t.match(await under(after, 'settings copy', ['shop.title', 'shop.name']), {
      data: { copied: 1 },
      exit: 0,
    })
    t.match(await under(after, 'settings get', ['shop.name']), { data: { value: 'Acme' } })
    t.match(await under(after, 'settings forget', ['shop.title']), { data: { values: 1 } })
    t.match((await under(after, 'doctor')).lines, ['nothing wrong'])
  })

  test(`${engine}: dead letters are listed, replayed and discarded`, async (t) => {
    const database = await makeDatabase(t)
    await served(database, async (app) => {
      await app.events.publish(new Ordered({}))
      for (let at = 0; at < 1000 && ((await app.events.deadLetters?.list()) ?? []).length === 0; at++)
        await new Promise((resolve) => setTimeout(resolve, 20))
    })
    const shop = () => createShop({ database })
    const list = await under(shop, 'events dead-letters list')
    t.match(list.rows, [{ type: 'shop.ordered', handler: 'shop.ShipHandler', error: /no parcel/ }])
    t.match((await under(shop, 'doctor')).rows, [{ kind: 'dead letters' }])
    const id = String(Reflect.get(list.rows?.[0] ?? {}, 'id'))
    t.match(await under(shop, 'events dead-letters replay', [id]), { lines: [`${id} is delivered again.`] })
    t.match(
      await under(shop, 'events dead-letters discard', [id]),
      { exit: 2 },
      'it waits for a process that serves',
    )
    t.same((await under(shop, 'events dead-letters list')).rows, [], 'a command delivers nothing')
  })
}

test('access prints the table, compares the file, and writes it', async (t) => {
  const path = await folder(t)
  const shop = () => createShop({ database: join(path, 'shop.db') })
  await served(join(path, 'shop.db'), async () => {})
  const file = join(path, 'access.json')
  t.match((await under(shop, 'access')).lines?.join('\n'), /GET .*\/orders.*signed-in/)
  t.equal((await under(shop, 'access', [file], { options: { check: true } })).exit, 3)
  await under(shop, 'access', [file], { options: { update: true } })
  t.match(await under(shop, 'access', [file], { options: { check: true } }), { data: [] })
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('"access":"signed-in"', '"access":"public"'))
  t.equal((await under(shop, 'access', [file], { options: { check: true } })).exit, 3)
})

test('every command has a test here or in processes', async (t) => {
  const own = await readFile(new URL('../test/commands.test.ts', import.meta.url), 'utf8')
  t.same(
    Object.keys(commands).filter((name) => !own.includes(`'${name}'`)),
    [],
  )
})
