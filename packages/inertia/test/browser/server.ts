/** The application of the acceptance test: a route for each feature of the protocol. */
import cookie from '@fastify/cookie'
import { errors } from '@fastify-modular/errors'
import { cookieFlash, inertia, prop } from '@fastify-modular/inertia'
import Fastify, { type FastifyInstance } from 'fastify'

const body = { type: 'object', properties: { title: { type: 'string', minLength: 3 } } } as const

/** Items of an endless list: three a page, of three pages. */
function portion(page: number) {
  return {
    data: [1, 2, 3].map((index) => ({ id: (page - 1) * 3 + index })),
    page,
  }
}

export async function startServer(
  script: string,
): Promise<{ readonly app: FastifyInstance; readonly url: string }> {
  const app = Fastify({ ajv: { customOptions: { allErrors: true } } })
  let version = 'v1'
  let calls = 0
  await app.register(errors, { errorPage: false })
  await app.register(cookie)
  await app.register(inertia, {
    version: () => version,
    share: { user: 'Ada' },
    precognition: true,
    flash: cookieFlash({ secret: 'a secret of thirty-two characters or more' }),
    rootTemplate: `<!doctype html><title>Test</title><body><!--inertia--><script type="module" src="/client.js"></script></body>`,
  })
  app.get('/client.js', (_, reply) => reply.type('text/javascript').send(script))
  app.get('/deploy', async () => (version = 'v2'))

  app.get('/', (_, reply) => reply.inertia('Probe', { home: true }))
  app.get('/notes', (_, reply) => reply.inertia('Notes'))
  app.get('/only', (_, reply) => reply.inertia('Only', { list: [1] }))
  app.get('/asking', (_, reply) => reply.inertia('Asking'))
  app.get('/bags', (_, reply) => reply.inertia('Bags'))
  app.post<{ Body: { title: string } }>('/notes', { schema: { body } }, (request, reply) =>
    request.body.title === 'taken'
      ? reply.inertiaBack({ errors: { title: 'is taken' } })
      : reply.inertiaBack({ flash: { message: 'Saved.' } }),
  )
  app.get('/props', (_, reply) =>
    reply.inertia('Probe', {
      calls: prop.always(() => ++calls),
      lazy: () => 'lazy',
      extra: prop.optional(() => 'extra'),
      nested: { a: 1, b: { c: 2, d: 3 } },
    }),
  )
  app.get('/deferred', (_, reply) =>
    reply.inertia('Deferred', {
      report: prop.defer(() => ({ total: 7 })),
      broken: prop.defer(() => Promise.reject(new Error('broken')), { group: 'other', rescue: true }),
      nested: { later: prop.defer(() => 'later', { group: 'third' }) },
    }),
  )
  app.get('/merged', (_, reply) =>
    reply.inertia('Probe', {
      appended: prop.merge(
        () => [
          { id: 1, n: ++calls },
          { id: calls + 100, n: calls },
        ],
        { matchOn: 'id' },
      ),
      before: prop.prepend(() => [calls]),
      below: prop.merge(() => ({ data: [calls] }), { at: 'data' }),
      deep: prop.deepMerge(() => ({ list: [calls], [`k${calls}`]: 1 })),
    }),
  )
  app.get('/once', (_, reply) =>
    reply.inertia('Probe', { plans: prop.once(() => ++calls, { key: 'plans' }) }),
  )
  app.get('/once-too', (_, reply) =>
    reply.inertia('Probe', { there: { plans: prop.once(() => ++calls, { key: 'plans' }) } }),
  )
  app.get('/visible', (_, reply) => reply.inertia('Visible', { lazy: prop.optional(() => 'lazy') }))
  for (const component of ['Endless', 'Scrolled'])
    app.get<{ Querystring: { page?: string } }>(`/${component.toLowerCase()}`, ({ query }, reply) =>
      reply.inertia(component, {
        list: prop.scroll(
          () => portion(Number(query.page ?? 2)),
          ({ page }) => ({
            currentPage: page,
            previousPage: page > 1 ? page - 1 : null,
            nextPage: page < 3 ? page + 1 : null,
          }),
          { matchOn: 'id' },
        ),
      }),
    )
  app.get('/moved', (_, reply) => reply.redirect('/kept'))
  app.get('/kept', (_, reply) => reply.inertia('Probe', {}, { preserveFragment: true }))
  let letGo = () => {}
  const isFree = new Promise<void>((resolve) => (letGo = resolve))
  app.get('/slow', async (_, reply) => {
    await isFree
    return reply.inertia('Probe', { slow: true })
  })
  app.get('/let-go', async () => letGo())
  app.put('/redirected', (_, reply) => reply.redirect('/?from=put'))
  app.post('/fragment', (_, reply) => reply.redirect('/props#below'))
  app.post('/external', (_, reply) => reply.inertiaLocation('/plain'))
  app.get('/plain', (_, reply) => reply.type('text/html').send('<h1>plain</h1>'))
  app.get('/private', (_, reply) => reply.inertia('Probe', { secret: 1 }, { encryptHistory: true }))
  app.get('/signed-out', (_, reply) => reply.inertia('Probe', {}, { clearHistory: true }))
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, url }
}
