/**
 * The layout of fastify-cli: files that are registered as plugins, with the options of the server handed down to them.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { test, type Test } from 'tap'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const deep = 'a-long-name-of-a-folder/'.repeat(6)
const errorsStub = { errors: async () => {}, createErrorServerOptions: () => ({ frameworkErrors: () => {} }) }

/** The files that the README shows, in a folder of this package so that its packages are found, and with a long path. */
function writeTree(t: Test, change: (path: string, code: string) => string = (_, code) => code) {
  const folder = mkdtempSync(join(dirname(fileURLToPath(import.meta.url)), 'cli-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const [, path = '', code = ''] of readme.matchAll(/```js\n\/\/ (\S+\.js)\n(.*?)```/gs)) {
    const file = join(folder, deep, path.replace(/\.js$/, '.cjs')) // the package itself is of type "module"
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, withStubs(change(path, code)))
  }
  return join(folder, deep, 'app.cjs')
}

/** Neither package is installed here: what autoload does with files, and nothing of the errors plugin. */
function withStubs(code: string): string {
  return code
    .replace("require('@fastify/autoload')", 'globalThis[Symbol.for("cli-test")].autoload')
    .replaceAll("require('@fastify-modular/errors')", 'globalThis[Symbol.for("cli-test")].errors')
}

const require = createRequire(import.meta.url)

async function autoload(
  app: FastifyInstance,
  { dir, options }: { readonly dir: string; readonly options: object },
): Promise<void> {
  for (const name of readdirSync(dir).toSorted()) await app.register(require(join(dir, name)), options)
}
Object.assign(autoload, { [Symbol.for('skip-override')]: true })
Object.assign(globalThis, { [Symbol.for('cli-test')]: { autoload, errors: errorsStub } })

/** What `fastify start --options app.js` does. */
async function start(t: Test, file: string): Promise<FastifyInstance> {
  const plugin: FastifyPluginAsync & { readonly options?: object } = require(file)
  const app = Fastify({ ...plugin.options })
  t.teardown(() => app.close().catch(() => {}))
  await app.register(plugin, { ...plugin.options })
  return app
}

test('the tree of the README boots, and the gate covers its routes', async (t) => {
  const app = await start(t, writeTree(t))
  t.equal((await app.inject('/')).statusCode, 200)
  t.equal((await app.inject('/me')).statusCode, 401)
  t.equal((await app.inject({ url: '/me', headers: { 'x-session': '4f9c27' } })).json().id, 'alice')
})

test('a file of that tree without fastify-plugin is named, with what to wrap', async (t) => {
  for (const unwrapped of ['app.js', 'plugins/gate.js']) {
    const file = writeTree(t, (path, code) =>
      path === unwrapped ? code.replace("require('fastify-plugin')", '(plugin) => plugin') : code,
    )
    await t.rejects(start(t, file), {
      code: 'FMOD_PUBLIC_ROUTES_NOT_AT_ROOT',
      message:
        /(?:app|gate)\.cjs" .*wrap the file that registers the gate and the application file \(app\.js\)/,
    })
  }
})
