/** The page of an API that means harm: what a document says stays text, and reading it ends. */
import { apiPage } from '#src/web/api-page.js'
import { readApi } from '#src/web/openapi.js'
import { test } from 'tap'

const hostile = `</textarea></script><img src=x onerror="alert(1)" '`

test('whatever strings a document holds, the page has no markup of theirs', (t) => {
  const schema = {
    type: 'object',
    description: hostile,
    properties: { [hostile]: { type: hostile, description: hostile, default: hostile } },
    required: [hostile],
  }
  const content = { [hostile]: { schema } }
  const operation = {
    tags: [hostile],
    operationId: hostile,
    summary: hostile,
    description: hostile,
    'x-permission': hostile,
    parameters: [{ name: hostile, in: 'query', required: true, description: hostile, schema }],
    requestBody: { content },
    responses: { 200: { description: hostile, content }, 400: { description: hostile } },
  }
  const page = String(
    apiPage(
      readApi({
        info: { title: hostile, description: hostile, version: hostile },
        paths: { [`/${hostile}`]: { [hostile]: operation } },
        components: { schemas: { [hostile]: schema } },
      }),
    ),
  )
  t.notMatch(page, /<img|<\/script|\sonerror="/)
  t.equal(page.split('</textarea>').length, 2)
  t.match(page, '&#60;img src=x')
  t.end()
})

test('a schema that refers to itself ends, in every way that it can', (t) => {
  const self = { $ref: '#/components/schemas/Self' }
  for (const Self of [
    { anyOf: [self, { type: 'null' }] },
    { oneOf: [self] },
    { allOf: [self, self] },
    { type: 'array', items: self },
    { type: 'object', properties: { self }, required: ['self'] },
    self,
  ]) {
    const content = { 'application/json': { schema: self } }
    const operation = { requestBody: { content }, responses: { 200: { content } } }
    const api = readApi({
      info: { title: 'Self', version: '1' },
      paths: { '/self': { post: operation } },
      components: { schemas: { Self } },
    })
    t.match(String(apiPage(api)), 'Self', JSON.stringify(Self))
  }
  t.end()
})
