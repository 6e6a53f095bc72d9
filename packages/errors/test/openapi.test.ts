import swagger from '@fastify/swagger'
import { Validator } from '@seriousme/openapi-schema-validator'
import Fastify, {
  type FastifyInstance,
  type FastifyRequest,
  type FastifySchemaValidationError,
} from 'fastify'
import { test, type Test } from 'tap'
import {
  ConflictException,
  defineProblem,
  ForbiddenException,
  NotFoundException,
  ServiceUnavailableException,
  TooManyRequestsException,
  ValidationException,
} from '@fastify-modular/core'
import { problemResponses } from '@fastify-modular/errors'
import { createApp } from './support/app.js'
import { hostileValues } from './support/hostile.js'

class OutOfStock extends defineProblem({ status: 409, code: 'OUT_OF_STOCK', title: 'Out of stock' }) {}

const thrown: Readonly<Record<string, () => unknown>> = {
  validation: () => new ValidationException({ name: ['required'], 'a b': ['odd'] }),
  'not-found': () => new NotFoundException('Thing', 'a"b\u0000\ud800'),
  forbidden: () => new ForbiddenException(),
  conflict: () => new ConflictException('stale', { errors: { x: ['y'] }, list: [1] }),
  busy: () => new TooManyRequestsException(3),
  down: () => new ServiceUnavailableException('secret', 3),
  ...hostileValues,
}

/** An application with documented routes that fail in every way. */
async function createDocumented(t: Test): Promise<FastifyInstance> {
  const { app } = await createApp(t, {
    async before(it) {
      await it.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'Things', version: '1' } } })
    },
    after(it) {
      const response = problemResponses(it, 400, 403, 404, 409, 413, 415, 422, 429, 500, 503)
      it.get<{ Params: { kind: string } }>('/thrown/:kind', { schema: { response } }, ({ params }) => {
        throw thrown[params.kind]?.()
      })
      it.get('/stock', { schema: { response } }, () => {
        throw new OutOfStock('none', { left: 0, nested: { deep: ['x'] } })
      })
      const body = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }
      it.post('/things', { schema: { body, response }, bodyLimit: 100 }, async () => 'ok')
    },
  })
  return app
}

interface Document {
  readonly paths: Record<string, Record<string, { responses: Record<string, Documented> }>>
  readonly components: { readonly schemas: Record<string, Record<string, unknown>> }
}

interface Documented {
  readonly content: { readonly 'application/problem+json': { readonly schema: { readonly $ref: string } } }
}

test('E86: a document made of routes with problemResponses is valid OpenAPI', async (t) => {
  const app = await createDocumented(t)
  const document = app.swagger() as unknown as Document
  const { valid, errors } = await new Validator().validate(
    JSON.parse(JSON.stringify(document)) as Record<string, unknown>,
  )
  t.ok(valid, JSON.stringify(errors))
  t.same(
    Object.keys(document.paths).toSorted(),
    ['/stock', '/thrown/{kind}', '/things'].toSorted(),
    'no error routes',
  )
  const names = Object.values(document.components.schemas).map(({ title }) => title)
  t.same(new Set(names), new Set(['ProblemDetails', 'ValidationProblemDetails']))
})

test('E86: every answer to a failure is what the document says of its path and status', async (t) => {
  const app = await createDocumented(t)
  const document = app.swagger() as unknown as Document
  const check = await checkAgainst(t, document)
  const inject = async (method: 'GET' | 'POST', path: string, url: string, options: object = {}) => {
    const answer = await app.inject({ method, url, ...options })
    const documented = document.paths[path]?.[method.toLowerCase()]?.responses[String(answer.statusCode)]
    t.ok(documented, `${url}: ${answer.statusCode} is documented`)
    t.equal(answer.headers['content-type'], Object.keys(documented?.content ?? {})[0], url)
    const ref = documented?.content['application/problem+json'].schema.$ref ?? ''
    t.same(await check(ref.split('/').at(-1) ?? '', answer.json()), [], url)
  }
  for (const kind of Object.keys(thrown)) {
    await inject('GET', '/thrown/{kind}', `/thrown/${encodeURIComponent(kind)}?token=x`)
  }
  await inject('GET', '/stock', '/stock', {
    headers: { traceparent: `00-${'4b'.repeat(16)}-00f067aa0ba902b7-01` },
  })
  await inject('POST', '/things', '/things', { payload: {} })
  await inject('POST', '/things', '/things', { payload: { a: 'x'.repeat(200) } })
  await inject('POST', '/things', '/things', { payload: 'x', headers: { 'content-type': 'text/xml' } })
  await inject('POST', '/things', '/things', {
    payload: '{',
    headers: { 'content-type': 'application/json' },
  })
})

/** A function that validates bodies against the document's schemas, with Fastify's own AJV and its formats. */
async function checkAgainst(t: Test, document: Document) {
  const app = Fastify({
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, allErrors: true } },
  })
  t.teardown(() => app.close())
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    const text = JSON.stringify(schema).replaceAll('#/components/schemas/', '')
    app.addSchema({ ...(JSON.parse(text) as object), $id: name })
  }
  for (const name of Object.keys(document.components.schemas)) {
    app.post(
      `/${name}`,
      { schema: { body: { $ref: `${name}#` } }, attachValidation: true },
      async (request) => failuresOf(request.validationError),
    )
  }
  await app.ready()
  return async (name: string, payload: object): Promise<unknown> =>
    (await app.inject({ method: 'POST', url: `/${name}`, payload })).json()
}

function failuresOf(error: FastifyRequest['validationError']): string[] {
  const failures = (error?.validation ?? []) as FastifySchemaValidationError[]
  return failures.map(({ instancePath, message }) => `${instancePath} ${message}`)
}
