import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'

const here = fileURLToPath(new URL('../..', import.meta.url))

test('FMOD_CORE_PEER_MISSING: publishing through drizzle names drizzle-orm where it is not installed', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'core-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  const modules = join(root, 'node_modules')
  for (const name of ['@fastify/error', '@sinclair/typebox', 'fastify-plugin']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(realpathSync(join(here, 'node_modules', name)), join(modules, name))
  }
  const copy = join(modules, '@fastify-modular/core')
  cpSync(join(here, 'dist'), join(copy, 'dist'), { recursive: true })
  cpSync(join(here, 'package.json'), join(copy, 'package.json'))
  const entry = join(root, 'entry.mjs')
  writeFileSync(
    entry,
    `await import('@fastify-modular/core/events/drizzle').catch(({ code, message }) => console.log(code, message))`,
  )
  const { stdout, stderr } = spawnSync(process.execPath, [entry], { encoding: 'utf8', timeout: 20_000 })
  t.match(stdout + stderr, /^FMOD_CORE_PEER_MISSING .*"drizzle-orm"/)
})
