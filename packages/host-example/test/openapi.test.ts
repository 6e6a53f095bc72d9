import { test } from 'tap'
import { Validator } from '@seriousme/openapi-schema-validator'
import { startHost } from './host.js'

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly responses: Record<string, { readonly content?: Record<string, unknown> }>
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>
}

test('the document at /openapi.json is valid, and every operation says how it fails', async (t) => {
  const host = await startHost(t)
  const { json, status } = await host.anonymous.ask('/openapi.json')
  t.equal(status, 200, 'public (S 5.3.1)')
  const verdict = await new Validator().validate(json as Record<string, unknown>)
  t.same(verdict.errors ?? [], [])
  t.ok(verdict.valid)

  const operations = Object.entries((json as Document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
  )
  t.ok(operations.length > 20, `${operations.length} operations`)
  const ids = operations.map(({ operationId }) => operationId).filter((id) => id !== undefined)
  t.equal(new Set(ids).size, ids.length, 'an operationId names one operation')
  for (const { name, responses } of operations.filter((each) => !each.name.includes('/faults/'))) {
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
})
