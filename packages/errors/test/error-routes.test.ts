import { test } from 'tap'
import { problemChannel } from '@fastify-modular/errors'
import { createApp } from './support/app.js'
import { documentOf, generic, inertiaHeaders, pageOf, problemOf } from './support/expect.js'

const served = { errors: { pages: 'inertia' } } as const

test('S 4.3, E33: GET /error/404 is the page of that status', async (t) => {
  const { app } = await createApp(t, served)
  const html = documentOf(t, await app.inject('/error/404'), 404)
  t.match(html, 'Not Found')
  t.match(html, 'The requested resource was not found.')
})

test('S 4.3, E34 to E36: the Inertia client gets component, status, title and message', async (t) => {
  const { app } = await createApp(t, served)
  const show = async (status: number, sent = status) =>
    pageOf(t, await app.inject({ url: `/error/${status}`, headers: inertiaHeaders }), status, sent).props
  t.same(await show(403), {
    status: 403,
    title: 'Forbidden',
    message: 'You do not have permission to access this resource.',
  })
  t.equal((await show(500, 200)).message, generic)
  t.equal((await show(418)).title, "I'm a Teapot")
  t.equal((await show(599, 200)).title, 'Internal Server Error', 'an unknown status is the x00 of its class')
})

test('decision 45: 4xx are shown with their status, all others with 200: no stranger can make 5xx', async (t) => {
  const { app } = await createApp(t, served)
  for (const status of [100, 204, 302, 399, 400, 404, 499, 500, 503, 599]) {
    for (const headers of [inertiaHeaders, {}]) {
      const answer = await app.inject({ url: `/error/${status}`, headers })
      t.equal(answer.statusCode, status >= 400 && status < 500 ? status : 200)
      t.equal(answer.headers['x-robots-tag'], 'noindex')
      t.match(answer.body, headers === inertiaHeaders ? `"component":"Error/${status}"` : '<!doctype html>')
    }
  }
})

test('decision 45, E37: what is not a status is an unmatched route', async (t) => {
  const { app } = await createApp(t, served)
  for (const text of [
    'abc',
    '0',
    '99',
    '600',
    '99999',
    '-1',
    '4e2',
    '404.0',
    '0404',
    '404%0A',
    '%34%30%34%00',
  ]) {
    const answer = await app.inject({ url: `/error/${text}`, headers: inertiaHeaders })
    pageOf(t, answer, 404)
    t.equal(answer.json<{ props: { title: string } }>().props.title, 'Not Found', text)
  }
})

test('E38: showing an error page is not a failure: nothing is logged or counted', async (t) => {
  const { app, failures } = await createApp(t, served)
  let counted = 0
  const count = (): void => void counted++
  problemChannel.subscribe(count)
  t.teardown(() => problemChannel.unsubscribe(count))
  await app.inject('/error/500')
  t.same(failures(), [])
  t.equal(counted, 0)
})

test('E39: other methods find no route', async (t) => {
  const { app } = await createApp(t, served)
  problemOf(t, await app.inject({ method: 'POST', url: '/error/404' }), 404)
})

test('decision 45: the route declares itself public, and hides from OpenAPI', async (t) => {
  const routes: { url: string; config: unknown; hide: unknown }[] = []
  const { app } = await createApp(t, {
    before: (it) =>
      it.addHook('onRoute', ({ url, config, schema }) => {
        routes.push({ url, config, hide: schema?.hide })
      }),
  })
  t.ok(app.hasRoute({ method: 'GET', url: '/error/:statusCode' }))
  for (const { config, hide } of routes)
    t.match({ config, hide }, { config: { access: 'public' }, hide: true })
})

test('pages: false leaves the path to the application', async (t) => {
  const { app } = await createApp(t, { errors: { pages: false } })
  t.notOk(app.hasRoute({ method: 'GET', url: '/error/:statusCode' }))
})
