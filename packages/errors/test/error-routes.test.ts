import { test } from 'tap'
import { problemChannel } from '@fastify-modular/errors'
import { createApp } from './support/app.js'
import { documentOf, generic, inertiaHeaders, pageOf, problemOf } from './support/expect.js'

test('S 4.3, E33: GET /error/404 is the page of that status', async (t) => {
  const { app } = await createApp(t)
  const html = documentOf(t, await app.inject('/error/404'), 404)
  t.match(html, 'Not Found')
  t.match(html, 'The requested resource was not found.')
})

test('S 4.3, E34 to E36: the Inertia client gets component, status, title and message', async (t) => {
  const { app } = await createApp(t)
  const show = async (status: number) =>
    pageOf(t, await app.inject({ url: `/error/${status}`, headers: inertiaHeaders }), status).props
  t.same(await show(403), {
    status: 403,
    title: 'Forbidden',
    message: 'You do not have permission to access this resource.',
  })
  t.equal((await show(500)).message, generic)
  t.equal((await show(418)).title, "I'm a Teapot")
  t.equal((await show(599)).title, 'Internal Server Error', 'an unknown status is the x00 of its class')
})

test('decision 45: other statuses are shown with 200', async (t) => {
  const { app } = await createApp(t)
  for (const status of [100, 204, 302, 399]) {
    const answer = await app.inject({ url: `/error/${status}`, headers: inertiaHeaders })
    t.equal(answer.statusCode, 200)
    t.equal(answer.json<{ component: string }>().component, `Error/${status}`)
  }
})

test('decision 45, E37: what is not a status is an unmatched route', async (t) => {
  const { app } = await createApp(t)
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
  const { app, failures } = await createApp(t)
  let counted = 0
  const count = (): void => void counted++
  problemChannel.subscribe(count)
  t.teardown(() => problemChannel.unsubscribe(count))
  await app.inject('/error/500')
  t.same(failures(), [])
  t.equal(counted, 0)
})

test('E39: other methods find no route', async (t) => {
  const { app } = await createApp(t)
  problemOf(t, await app.inject({ method: 'POST', url: '/error/404' }), 404)
})

test('decision 45: the route says itself that it is public, for GET only, and hides from OpenAPI', async (t) => {
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

test('errorRoutes: false leaves the path to the application', async (t) => {
  const { app } = await createApp(t, { errors: { errorRoutes: false } })
  t.notOk(app.hasRoute({ method: 'GET', url: '/error/:statusCode' }))
})
