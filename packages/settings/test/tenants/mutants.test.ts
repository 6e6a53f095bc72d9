/** Faults that would let organisations see each other: each one is noticed by a proof, in a copy of the package. */
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { test } from 'tap'

t.setTimeout(900_000)
const root = fileURLToPath(new URL('../..', import.meta.url))

interface Mutant {
  readonly file: string
  readonly find: string
  readonly replace: string
  readonly proof:
    | 'tenants/model'
    | 'tenants/http'
    | 'tenants/live'
    | 'store/memory'
    | 'store/sqlite/contract'
    | 'service/encryption'
}

const mutants: Readonly<Record<string, Mutant>> = {
  'the organisation left out of the tag': {
    file: 'http/shared-lists.js',
    find: 'JSON.stringify([callerOf(request).id, tenant])',
    replace: 'callerOf(request).id',
    proof: 'tenants/http',
  },
  'the organisation left out of what other instances notice': {
    file: 'store/sqlite/engine.js',
    find: 'h.scope >= 2 and h.seq',
    replace: 'h.scope = 2 and h.seq',
    proof: 'store/sqlite/contract',
  },
  'the scope left out of the key of the cache': {
    file: 'memory/owned-values.js',
    find: 'store.owned.read({ scope, id })',
    replace: 'store.owned.read({ scope: 2, id })',
    proof: 'tenants/model',
  },
  'the scope left out of the lock': {
    file: 'store/plan-write.js',
    find: 'scope === of.scope && owner === of.id',
    replace: 'owner === of.id',
    proof: 'store/memory',
  },
  'the scope left out of the encryption': {
    file: 'secrets/encryption.js',
    find: 'JSON.stringify([scope, owner, key])',
    replace: 'JSON.stringify([scope === 3 ? 2 : scope, owner, key])',
    proof: 'service/encryption',
  },
  'the host asked once a request, whoever the caller is': {
    file: 'tenants.js',
    find: 'const callerId = caller?.id ?? null',
    replace: 'const callerId = null',
    proof: 'tenants/model',
  },
  'an erased organisation takes the name of its namesake along': {
    file: 'store/memory.js',
    find: 'owner.scope === SettingScope.User ? this.#forgetWriter(owner.id) : [0, 0]',
    replace: 'this.#forgetWriter(owner.id)',
    proof: 'store/memory',
  },
  "the caller's permissions in place of those in the organisation": {
    file: 'tenants.js',
    find: 'permissions ? { ...caller, permissions } : caller',
    replace: 'caller',
    proof: 'tenants/model',
  },
  'a write for another organisation is taken for this one': {
    file: 'http/routes/tenant.js',
    find: 'if (named.some((each) => each !== id))',
    replace: 'if (false)',
    proof: 'tenants/model',
  },
  'the organisation left out of what a stream says about itself': {
    file: 'streams/streams.js',
    find: 'JSON.stringify({ caller: callerId, tenant, changed })',
    replace: 'JSON.stringify({ caller: callerId, changed })',
    proof: 'tenants/live',
  },
  'the organisation left out of the question whether a stream goes on': {
    file: 'streams/questions.js',
    find: 'JSON.stringify([callerId, tenant])',
    replace: 'JSON.stringify([callerId])',
    proof: 'tenants/live',
  },
  'a secret of an organisation decoded over HTTP': {
    file: 'http/routes/values.js',
    find: "if (source === 'tenant')",
    replace: 'if (false)',
    proof: 'tenants/http',
  },
}

/** Milliseconds after which a fault counts as noticed: some proofs wait for what it keeps from coming. */
const patience = 90_000

/** Whether a proof passes in the copy, within a time if there is one. */
function passes(copy: string, proof: string, timeout?: number): Promise<boolean> {
  const env = { ...process.env, TENANT_ENGINE: 'memory', TENANT_STEPS: '400', TAP_BAIL: '1' }
  const child = spawn(process.execPath, [join(copy, 'dist-test', `${proof}.test.js`)], {
    env,
    stdio: 'ignore',
    timeout,
    killSignal: 'SIGKILL',
  })
  return new Promise((resolve) => child.once('close', (code) => resolve(code === 0)))
}

/** What is run: without declarations and source maps, which are most of the files. */
const isRun = (path: string): boolean => !/\.(?:map|d\.ts)$/.test(path)

test('faults', async (t) => {
  const copy = await mkdtemp(join(tmpdir(), 'settings-mutant-'))
  t.teardown(() => rm(copy, { recursive: true, force: true }))
  for (const part of ['package.json', 'dist', 'dist-test'])
    await cp(join(root, part), join(copy, part), { recursive: true, filter: isRun })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))

  await t.test('without one every proof passes in the copy', async (t) => {
    for (const proof of new Set(Object.values(mutants).map((mutant) => mutant.proof)))
      t.ok(await passes(copy, proof), proof)
  })

  for (const [fault, { file, find, replace, proof }] of Object.entries(mutants))
    await t.test(`${fault}: noticed`, async (t) => {
      const place = join(copy, 'dist', file)
      const source = await readFile(place, 'utf8')
      t.equal(source.split(find).length, 2, 'the place of the fault')
      await writeFile(
        place,
        source.replace(find, () => replace),
      )
      t.notOk(await passes(copy, proof, patience), proof)
      await writeFile(place, source)
    })
})
