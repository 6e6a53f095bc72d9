import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { test } from 'tap'
import {
  Error403,
  Error404,
  Error500,
  ErrorPage,
  type ErrorPageProps,
  withErrorPages,
} from '@fastify-modular/errors/react'

const lost: ErrorPageProps = { status: 404, title: 'Not Found', message: 'Nothing <b>here</b>' }

test('S 7.2.5: Error/403, Error/404 and Error/500 come before the application’s pages, all others have a fallback', (t) => {
  const resolve = withErrorPages((name) => `page ${name}`)
  t.equal(resolve('Error/403'), Error403)
  t.equal(resolve('Error/404'), Error404)
  t.equal(resolve('Error/500'), Error500)
  for (const status of [400, 409, 418, 599]) t.equal(resolve(`Error/${status}`), ErrorPage)
  for (const name of ['Home', 'Error/Log', 'Error/4040', 'Errors/404']) t.equal(resolve(name), `page ${name}`)
  t.end()
})

test('an application may bring pages of its own, and its own fallback', (t) => {
  const Lost = (): ReactNode => 'lost'
  const Oops = (): ReactNode => 'oops'
  const resolve = withErrorPages((name) => name, { 'Error/404': Lost, 'Error/409': Oops, fallback: Oops })
  t.equal(resolve('Error/404'), Lost)
  t.equal(resolve('Error/409'), Oops)
  t.equal(resolve('Error/418'), Oops)
  t.equal(resolve('Error/500'), Error500)
  t.end()
})

test('S 2.9: a page shows status, title and message as text, and where to go', (t) => {
  for (const Page of [Error403, Error404, Error500, ErrorPage]) {
    const html = renderToStaticMarkup(<Page {...lost} />)
    t.match(html, '<h1')
    t.match(html, 'Nothing &lt;b&gt;here&lt;/b&gt;')
    t.match(html, '<main')
    t.match(html, 'href="/"')
    t.match(html, 'color-scheme:light dark')
  }
  t.match(renderToStaticMarkup(<Error500 {...lost} />), 'Try again')
  t.match(renderToStaticMarkup(<Error500 {...lost} requestId="req-1" />), 'Reference: <code>req-1</code>')
  t.notMatch(renderToStaticMarkup(<Error500 {...lost} />), 'Reference')
  t.end()
})
