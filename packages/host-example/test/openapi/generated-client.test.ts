/** A client that is generated from the document: it writes on the condition that nobody else has. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import { test } from 'tap'
import { startHost } from '../host.js'

/** What an application writes with such a client. The compiler checks it. */
const program = `
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

// @ts-expect-error it is none of the layers
export const wrong: components['schemas']['SettingValue']['source'] = 'nowhere'

type Conflict = paths['/api/notes/{id}']['patch']['responses'][409]['content']['application/problem+json']
export const codeOf = ({ code }: Conflict): 'CONFLICT' => code

export async function changeTwice(baseUrl: string, cookie: string) {
  const client = createClient<paths>({ baseUrl, headers: { cookie } })
  const path = { key: 'app.title' }
  const read = await client.GET('/api/settings/{key}', { params: { path, query: { scope: 'application' } } })
  const header = { 'If-Match': read.response.headers.get('etag') ?? '', Prefer: 'return=representation' }
  const body = { key: 'app.title', scope: 1, value: 'Generated' }
  const first = await client.PUT('/api/settings', { params: { header }, body })
  const second = await client.PUT('/api/settings', { params: { header }, body })
  const title: string | undefined = first.data?.key
  return { statuses: [first.response.status, second.response.status], title, code: second.error?.code }
}

export async function readUnchanged(baseUrl: string, cookie: string) {
  const client = createClient<paths>({ baseUrl, headers: { cookie } })
  const { data, response } = await client.GET('/api/settings/definitions')
  const keys: string[] = data?.map(({ key }) => key) ?? []
  const header = { 'If-None-Match': response.headers.get('etag') ?? '' }
  const again = await client.GET('/api/settings/definitions', { params: { header } })
  return { count: keys.length, status: again.response.status }
}
`

test('a generated client compiles, writes with If-Match, and learns that it is late', async (t) => {
  const host = await startHost(t)
  const { cookie } = await host.signIn('admin')
  const document = (await host.anonymous.ask('/openapi.json')).text
  const folder = mkdtempSync(join(import.meta.dirname, 'client-')) // where it finds what it imports
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'api.ts'), astToString(await openapiTS(document)))
  writeFileSync(join(folder, 'client.ts'), program)
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2023',
    skipLibCheck: true,
    types: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const compiled = spawnSync(process.execPath, [tsc], { cwd: folder, encoding: 'utf8' })
  t.equal(compiled.status, 0, compiled.stdout)

  const client = await import(pathToFileURL(join(folder, 'client.js')).href)
  t.same(await client.changeTwice(host.url, cookie), {
    statuses: [200, 412],
    title: 'app.title',
    code: 'PRECONDITION_FAILED',
  })
  t.match(await client.readUnchanged(host.url, cookie), { count: 18, status: 304 })
})
