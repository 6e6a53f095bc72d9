/** Random trees of plugins: the gate covers all of them, or refuses to start. */
import { publicRoutes } from '@fastify-modular/public-routes'
import fc from 'fast-check'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { gatedApp, headerProvider, Sink } from '../support/application.ts'

interface Scope {
  readonly prefix: string
  readonly children: readonly Scope[]
  readonly ownNotFound: boolean
}

const { scope } = fc.letrec<{ scope: Scope }>((tie) => ({
  scope: fc.record({
    prefix: fc.constantFrom('/p', '/q', '/r', '/s'),
    children: fc.oneof(
      { maxDepth: 2 },
      fc.constant([]),
      fc.uniqueArray(tie('scope'), { maxLength: 2, selector: ({ prefix }) => prefix }),
    ),
    ownNotFound: fc.boolean(),
  }),
}))

test('property 12: in any tree of plugins, routes and not-found handlers are gated', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(scope, { maxLength: 4, selector: ({ prefix }) => prefix }),
      async (scopes) => {
        const sink = new Sink()
        const app = Fastify()
        const known: string[] = []
        const mount = (
          parent: FastifyInstance,
          { prefix, children, ownNotFound }: Scope,
          path: string,
        ): void => {
          known.push(`${path}${prefix}/x`, `${path}${prefix}/missing`)
          void parent.register(
            async (child) => {
              child.get('/x', sink.handler('route'))
              if (ownNotFound) child.setNotFoundHandler(sink.handler('not found'))
              for (const inner of children) mount(child, inner, path + prefix)
            },
            { prefix },
          )
        }
        await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false })
        for (const each of scopes) mount(app, each, '')
        for (const url of [...known, '/missing']) {
          const answer = await app.inject({ url, headers: { 'x-number': '1' } })
          t.equal(answer.statusCode, 401, url)
        }
        t.equal(sink.ranFor(1), undefined)
        await app.close()
      },
    ),
    { numRuns: 60, seed: 5 },
  )
})

for (const [prefix, inner] of [
  ['/', '/'],
  ['/shop/', '/'],
  ['/shop', '/'],
] as const) {
  test(`the root of a plugin under ${prefix} boots, is gated, and is listed once`, async (t) => {
    const sink = new Sink()
    const app = await gatedApp(t, { defaults: false })
    await app.register(async (scope) => void scope.get(inner, sink.handler('root')), { prefix })
    await app.ready()
    for (const method of ['GET', 'HEAD'] as const)
      t.equal((await app.inject({ method, url: prefix })).statusCode, 401)
    const listed = app.access.table().map(({ method, url }) => `${method} ${url}`)
    t.same(listed, [...new Set(listed)])
  })
}
