import swagger from '@fastify/swagger'
import { errors } from '@fastify-modular/errors'
import { accessTransform, publicRoutes } from '@fastify-modular/public-routes'
import Fastify from 'fastify'
import { test } from 'tap'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Spectral } from '@stoplight/spectral-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { startHost } from '../host.js'
import { ruleset } from './ruleset.js'

interface Operation {
  readonly security?: readonly object[]
  readonly 'x-permission'?: string
  readonly operationId?: string
  readonly summary?: string
  readonly responses: Record<string, { readonly content?: Record<string, unknown> }>
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>
}

const session = [{ session: [] }]
const accessOf = {
  'get /api/notes': [session, undefined],
  'get /api/notes/{id}/share': [[], undefined],
  'get /api/mails': [session, 'Mails.Read'],
  'put /api/settings/bulk': [session, 'Settings.Update'],
  'get /api/settings/public': [[], undefined],
  'post /ofrep/v1/evaluate/flags/{key}': [session, undefined],
}

test('the document at /openapi.json is valid, and every operation says how it fails and who may call it', async (t) => {
  const host = await startHost(t)
  const { json, status } = await host.anonymous.ask('/openapi.json')
  t.equal(status, 200, 'public (S 5.3.1)')
  const verdict = await new Validator().validate(json as Record<string, unknown>)
  t.same(verdict.errors ?? [], [])
  t.ok(verdict.valid)
  t.notMatch(JSON.stringify(json), /def-\d/, 'schemas keep their names')

  const spectral = new Spectral()
  spectral.setRuleset(ruleset)
  const findings = await spectral.run(JSON.stringify(json))
  t.same(
    findings.map(({ code, path, message }) => `${code} ${path.join(' ')}: ${message}`),
    [],
  )

  t.same(await redoclyProblems(json), [])

  const operations = Object.entries((json as Document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
  )
  t.ok(operations.length > 20, `${operations.length} operations`)
  const ids = operations.map(({ operationId }) => operationId).filter((id) => id !== undefined)
  t.equal(new Set(ids).size, ids.length, 'an operationId names one operation')
  for (const { name, responses } of operations) {
    t.ok(
      Object.keys(responses).some((code) => code.startsWith('2')),
      `${name} says how it succeeds`,
    )
  }
  for (const { name, responses } of operations.filter((each) => each.name.includes('/api/'))) {
    const failures = Object.entries(responses).filter(([code]) => code.startsWith('4'))
    t.ok(failures.length > 0, `${name} names its failures`)
    for (const [code, { content }] of failures) {
      t.ok(content?.['application/problem+json'], `${name} answers ${code} as problem details`)
    }
  }

  for (const [name, access] of Object.entries(accessOf)) {
    const [method = '', path = ''] = name.split(' ')
    const operation = (json as Document).paths[path]?.[method]
    t.same([operation?.security, operation?.['x-permission']], access, `${name} says who may call it`)
  }
})

/** The findings of Redocly's recommended rules. */
async function redoclyProblems(document: unknown) {
  // S 4.1 fixes paths such as /me/{key} beside /{key}/resolved; the router takes the literal one first.
  const rules = { 'no-ambiguous-paths': 'off' } as const
  const config = await createConfig({ extends: ['recommended'], rules })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}

const named = {
  refResolver: { buildLocalReference: ({ $id }: { readonly $id?: unknown }) => String($id) },
}

for (const [name, options] of Object.entries({ ProblemDetails: named, 'def-0': {} })) {
  test(`the refusals of the gate refer to the schema that errors share, which the document calls ${name}`, async (t) => {
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(swagger, {
      openapi: { openapi: '3.1.0' },
      transformObject: accessTransform(app),
      ...options,
    })
    await app.register(errors)
    const permissions = { 'Notes.Edit': 'Edit notes' }
    await app.register(publicRoutes, { provider: { authenticate: () => null }, permissions })
    app.put('/notes', { config: { access: 'Notes.Edit' } }, () => null)
    await app.ready()
    const { components } = app.swagger() as {
      components?: { schemas?: Record<string, { title?: string }>; responses?: object }
    }
    t.equal(components?.schemas?.[name]?.title, 'ProblemDetails')
    const schema = { $ref: `#/components/schemas/${name}` }
    const refusal = { content: { 'application/problem+json': { schema } } }
    t.match(components?.responses, { Unauthorized: refusal, Forbidden: refusal })
  })
}
