/** Values that code may throw and that break careless handlers. Each is made afresh: some can be used once. */

const explode = (): never => {
  throw new Error('trap secret')
}

function withGetter(name: string): Error {
  return Object.defineProperty(new Error('secret'), name, { get: explode, enumerable: true })
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable(new Error('secret'), {})
  revoke()
  return proxy
}

const traps = new Proxy({}, { get: () => explode }) as ProxyHandler<object>

function chained(depth: number): Error {
  let error = new Error('secret')
  for (let i = 0; i < depth; i++) error = new Error('secret', { cause: error })
  return error
}

function selfCaused(): Error {
  const error = new Error('secret')
  error.cause = error
  return error
}

/** Makers by what they make. All of them stand for 500, and none may be told. */
export const hostileValues: Readonly<Record<string, () => unknown>> = {
  'an error': () => new Error('secret'),
  'a frozen error': () => Object.freeze(new Error('secret')),
  'a sealed error with a cause': () => Object.seal(new Error('secret', { cause: 'secret' })),
  'a revoked proxy': revokedProxy,
  'a proxy whose traps all throw': () => new Proxy(new Error('secret'), traps),
  'a getter statusCode that throws': () => withGetter('statusCode'),
  'a getter status that throws': () => withGetter('status'),
  'a getter message that throws': () => withGetter('message'),
  'a getter name that throws': () => withGetter('name'),
  'a getter stack that throws': () => withGetter('stack'),
  'a getter code that throws': () => withGetter('code'),
  'a getter headers that throws': () => withGetter('headers'),
  'a getter validation that throws': () => withGetter('validation'),
  'a getter cause that throws': () => withGetter('cause'),
  'a getter expose that throws': () => withGetter('expose'),
  'a string': () => 'secret',
  'an empty string': () => '',
  'a number': () => 404,
  'not a number': () => Number.NaN,
  'a bigint': () => 10n ** 100n,
  'a symbol': () => Symbol('secret'),
  'a function': () => () => 'secret',
  true: () => true,
  'an array': () => ['secret'],
  'a plain object': () => ({ message: 'secret' }),
  'an object without a prototype': () => Object.assign(Object.create(null) as object, { message: 'secret' }),
  'a date': () => new Date(0),
  'a response': () => new Response('secret', { status: 404 }),
  'a promise': () => Promise.resolve('secret'),
  'a DOMException': () => new DOMException('secret', 'AbortError'),
  'an AggregateError of many': () =>
    new AggregateError(
      Array.from({ length: 1000 }, () => new Error('secret')),
      'secret',
    ),
  'a chain of a thousand causes': () => chained(1000),
  'a cause of itself': selfCaused,
  'a message of a megabyte': () => new Error('secret'.repeat(200_000)),
  'a message that is an object': () => Object.assign(new Error(), { message: { secret: 1 } }),
  'a toString and toJSON that throw': () =>
    Object.assign(new Error('secret'), { toString: explode, toJSON: explode }),
  'a status of 200': () => Object.assign(new Error('secret'), { statusCode: 200 }),
  'a status of 999': () => Object.assign(new Error('secret'), { statusCode: 999 }),
  'a status of 404.5': () => Object.assign(new Error('secret'), { statusCode: 404.5 }),
  'a status as a string': () => Object.assign(new Error('secret'), { statusCode: '404' }),
  'a status of an upstream client (axios)': () =>
    Object.assign(new Error('secret'), { status: 404, isAxiosError: true, response: { status: 404 } }),
  'a status of an upstream client (undici)': () =>
    Object.assign(new Error('secret'), {
      statusCode: 403,
      code: 'UND_ERR_RESPONSE',
      headers: { 'www-authenticate': 'secret' },
    }),
  'a status of an upstream client (got)': () =>
    Object.assign(new Error('secret'), { statusCode: 401, response: {} }),
  'a code that is a number': () => Object.assign(new Error('secret'), { code: 20 }),
  'a code of the system': () =>
    Object.assign(new Error('ENOENT: secret'), { code: 'ENOENT', path: '/secret' }),
  'a validation that is no list': () =>
    Object.assign(new Error('secret'), { validation: {}, validationContext: 'body' }),
  'headers that are a proxy': () => Object.assign(new Error('secret'), { headers: new Proxy({}, traps) }),
  'a forged domain exception': () => ({
    [Symbol.for('@fastify-modular/domain-exception')]: true,
    get statusCode() {
      return explode()
    },
  }),
}
