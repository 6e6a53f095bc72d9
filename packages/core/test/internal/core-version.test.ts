import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test, type Test } from 'tap'
import { checkCoreVersion } from '@fastify-modular/core/internal'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

/** The address of a module of a package with this manifest. */
function moduleOf(t: Test, manifest: unknown): string {
  const dir = t.testdir()
  mkdirSync(join(dir, 'dist'))
  writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest))
  return pathToFileURL(join(dir, 'dist', 'plugin.js')).href
}

test('a package of another minor version than core stops the boot with the command that helps', (t) => {
  const url = moduleOf(t, { name: '@fastify-modular/errors', version: '0.987.1' })
  t.throws(() => checkCoreVersion(url), {
    code: 'FMOD_CORE_VERSION_MISMATCH',
    message: new RegExp(
      `errors 0\\.987\\.1 needs .*core 0\\.987\\.x, and ${version} .*npm install @fastify-modular/core@0\\.987\n`,
    ),
  })
  t.end()
})

test('another patch of the same minor version is not a mismatch', (t) => {
  const [major = '', minor = ''] = version.split('.')
  checkCoreVersion(moduleOf(t, { name: '@fastify-modular/errors', version: `${major}.${minor}.99-beta.1` }))
  t.end()
})

test('a package that was bundled into an application has no version to compare', (t) => {
  checkCoreVersion(moduleOf(t, { name: 'my-app', version: '0.987.0' }))
  checkCoreVersion(moduleOf(t, 'no manifest'))
  checkCoreVersion(pathToFileURL(join(t.testdir(), 'gone', 'plugin.js')).href)
  t.end()
})
