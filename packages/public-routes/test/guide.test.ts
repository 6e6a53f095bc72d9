/** The code of docs/guides/access.md compiles, and does what the text beside it says. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expectAccess } from '@fastify-modular/public-routes/testing'
import type { FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { withEnvironment, writing } from './support/environment.ts'

const root = new URL('../../../', import.meta.url)
const guide = readFileSync(new URL('docs/guides/access.md', root), 'utf8')
const blocks = [...guide.matchAll(/```ts[^\n]*\n(.*?)```/gs)].map(([, code = '']) => code)

/** A file of this package, so that its packages are found: the blocks of the guide, which go on from each other. */
function write(t: Test, name: string, code: string): string {
  const folder = mkdtempSync(join(dirname(fileURLToPath(import.meta.url)), 'guide-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, name), code)
  return join(folder, name)
}

test('the code of the guide compiles', async (t) => {
  const tsc = createRequire(new URL('package.json', root)).resolve('typescript/bin/tsc')
  const file = write(t, 'guide.ts', blocks.join('\n'))
  const options =
    '--ignoreConfig --noEmit --strict --skipLibCheck --target es2023 --module nodenext --types node'
  try {
    execFileSync(process.execPath, [tsc, ...options.split(' '), file], { encoding: 'utf8' })
  } catch (err) {
    t.fail(String(Reflect.get(Object(err), 'stdout')))
  }
})

test('the application of the guide answers as the guide says, and agrees with the file of its access', async (t) => {
  t.equal(blocks.length, 4)
  const [application = '', comparison = ''] = blocks
  const quiet = application
    .replace('logger: true', '')
    .replace(/console\.log\((.*)\)/, 'export const table = $1')
  const code = `${quiet}export { app }\n${comparison.replace(/^await (.*)$/m, 'export const compare = () => $1')}`
  const url = pathToFileURL(write(t, 'guide.mjs', code)).href
  const { app, table, compare }: Guide = await import(url)
  t.teardown(() => app.close())
  t.match(table, /PUT +\/notes\/:id +Notes\.Edit/)

  const status = async (method: 'GET' | 'PUT', path: string, token?: string) =>
    (await app.inject({ method, url: path, ...(token && { headers: { authorization: `Bearer ${token}` } }) }))
      .statusCode
  t.equal(await status('PUT', '/notes/1'), 401)
  t.equal(await status('PUT', '/notes/1', 'secret-of-alice'), 200)
  t.equal(await status('GET', '/notes'), 401)
  t.equal(await status('GET', '/notes', 'secret-of-alice'), 200)
  t.equal(await status('GET', '/notes/shared'), 200)

  await t.rejects(compare(), { code: 'FMOD_PUBLIC_ROUTES_ACCESS_CHANGED' })
  await withEnvironment(writing, compare)
  await compare()
})

test('the limits of the guide: each address before the gate, each caller after it; expectAccess tries all routes', async (t) => {
  const [application = '', , , limits = ''] = blocks
  const code =
    application.slice(0, application.indexOf('const app = Fastify')) +
    limits.replace('max: 300', 'max: 3').replace('max: 1000', 'max: 60')
  const { limited }: { limited: FastifyInstance } = await import(
    pathToFileURL(write(t, 'limits.mjs', `${code}\nexport { limited }`)).href
  )
  t.teardown(() => limited.close())
  const failures: unknown[] = []
  limited.addHook('onError', async (_request, _reply, err) => void failures.push(err))
  limited.get('/me', async ({ caller }) => caller?.id)
  await limited.ready()
  const file = pathToFileURL(write(t, 'access.json', '[]'))
  await withEnvironment(writing, () => expectAccess(limited, file))
  await expectAccess(limited, file)
  t.same(failures, [], 'no hook failed at a request of the gate')

  const ask = async (remoteAddress: string, headers: Record<string, string> = {}, url = '/me') =>
    (await limited.inject({ url, headers, remoteAddress })).statusCode
  const alice = { authorization: 'Bearer secret-of-alice' }
  const ofAlice = [await ask('10.0.0.1', alice), await ask('10.0.0.2', alice), await ask('10.0.0.3', alice)]
  t.same(ofAlice, [200, 200, 200])
  t.equal(await ask('10.0.0.4', alice), 429, 'each caller, whatever the address')
  const statuses = new Set<number>()
  for (let sent = 0; sent < 60; sent++) statuses.add(await ask('10.0.0.9', {}, `/unknown/${sent}`))
  t.same([...statuses], [401])
  t.equal(await ask('10.0.0.9'), 429, 'a stranger, also where the gate would answer 401')
  t.equal(await ask('10.0.0.8'), 401)
})

interface Guide {
  readonly app: FastifyInstance
  readonly table: string
  readonly compare: () => Promise<void>
}
