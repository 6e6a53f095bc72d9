// The failures that every peer answers, as our errors plugin words them: ../same-answers.mjs holds them to that.

let count = 0

/** The id of a request, for frameworks that give none: counted, and only where an answer shows it. */
export const nextId = () => `req-${(++count).toString(36)}`

export const unauthorized = {
  status: 401,
  headers: {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    vary: 'accept, authorization, cookie, x-inertia',
    'www-authenticate': 'Bearer',
  },
  body: (requestId) => ({
    type: 'about:blank',
    title: 'Unauthorized',
    status: 401,
    detail: 'Sign in to access this resource.',
    code: 'UNAUTHORIZED',
    requestId,
  }),
}

const notFoundHeaders = {
  'content-type': 'application/problem+json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  vary: 'Accept, X-Inertia',
}

/** What a domain miss is answered with: `detail` is the message of the error. */
export const missing = {
  status: 404,
  headers: notFoundHeaders,
  body: (detail, instance, requestId) => ({
    type: 'urn:problem:not-found',
    title: 'Resource not found',
    status: 404,
    code: 'NOT_FOUND',
    detail,
    instance,
    requestId,
  }),
}

/** What a path without a route is answered with. */
export const unmatched = {
  status: 404,
  headers: notFoundHeaders,
  body: (instance, requestId) => ({
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    code: 'NOT_FOUND',
    detail: 'The requested resource was not found.',
    instance,
    requestId,
  }),
}
