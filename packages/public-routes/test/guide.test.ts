/** The code of docs/guides/access.md compiles, and does what the text beside it says. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'

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
  t.equal(blocks.length, 2)
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
  process.env.UPDATE_SNAPSHOTS = '1'
  await compare()
  delete process.env.UPDATE_SNAPSHOTS
  await compare()
})

interface Guide {
  readonly app: FastifyInstance
  readonly table: string
  readonly compare: () => Promise<void>
}
