import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import {
  ArgumentException,
  ConflictException,
  defineProblem,
  DomainException,
  ErrorMessages,
  ForbiddenException,
  isDomainException,
  NotFoundException,
  ServiceUnavailableException,
  TooManyRequestsException,
  UnauthorizedException,
  ValidationException,
} from '@fastify-modular/core'

test('S 7.1: each exception carries the status, code and title it means', async (t) => {
  const table: [DomainException, number, string, string, string][] = [
    [
      new ValidationException({ name: ['required'] }),
      400,
      'VALIDATION',
      'Validation Error',
      ErrorMessages.ValidationError,
    ],
    [new ValidationException('bad'), 400, 'VALIDATION', 'Validation Error', 'bad'],
    [new ArgumentException('bad page', 'page'), 400, 'ARGUMENT', 'Validation Error', 'bad page'],
    [
      new NotFoundException('Product', 42),
      404,
      'NOT_FOUND',
      'Resource not found',
      'Product with ID 42 not found',
    ],
    [new ForbiddenException(), 403, 'FORBIDDEN', 'Forbidden', ErrorMessages.Forbidden],
    [new ConflictException(), 409, 'CONFLICT', 'Conflict', ErrorMessages.Conflict],
    [new UnauthorizedException(), 401, 'UNAUTHORIZED', 'Unauthorized', ErrorMessages.Unauthorized],
    [
      new TooManyRequestsException(7),
      429,
      'TOO_MANY_REQUESTS',
      'Too Many Requests',
      ErrorMessages.TooManyRequests,
    ],
    [
      new ServiceUnavailableException(),
      503,
      'SERVICE_UNAVAILABLE',
      'Service Unavailable',
      ErrorMessages.ServiceUnavailable,
    ],
  ]
  for (const [error, statusCode, code, title, message] of table) {
    t.same(
      [error.statusCode, error.code, error.title, error.message],
      [statusCode, code, title, message],
      error.name,
    )
    t.equal(error.name, error.constructor.name)
    t.ok(isDomainException(error))
  }
})

test('S 7.1: validation errors travel in the errors extension', async (t) => {
  t.same(new ValidationException({ name: ['required'] }).extensions, { errors: { name: ['required'] } })
})

class OutOfCredit extends defineProblem({
  status: 402,
  code: 'OUT_OF_CREDIT',
  title: 'Out of credit',
  extensions: Type.Object({ balance: Type.Number() }),
}) {}

test('a defined problem is an exception, and its class says what all of them are', async (t) => {
  const cause = new Error('why')
  const thrown = new OutOfCredit('Your balance is 30.', { balance: 30 }, { cause, headers: { allow: 'GET' } })
  t.ok(thrown instanceof DomainException && isDomainException(thrown))
  t.match(thrown, {
    name: 'OutOfCredit',
    message: 'Your balance is 30.',
    statusCode: 402,
    code: 'OUT_OF_CREDIT',
    title: 'Out of credit',
    extensions: { balance: 30 },
    headers: { allow: 'GET' },
  })
  t.equal(thrown.cause, cause)
  t.equal(thrown.extensions.balance.toFixed(2), '30.00', 'typed by its schema')
  const { status, code, extensions } = OutOfCredit
  t.match(
    { status, code, extensions },
    { status: 402, code: 'OUT_OF_CREDIT', extensions: { type: 'object' } },
  )
  // @ts-expect-error -- the balance is missing
  t.ok(new OutOfCredit('none'))
  class Gone extends defineProblem({ status: 410, code: 'GONE_2', title: 'Gone' }) {}
  t.equal(new Gone('gone').extensions, undefined)
})

test('built-in exceptions say the same by their classes as by their instances', async (t) => {
  const table = [
    [ValidationException, new ValidationException()],
    [ArgumentException, new ArgumentException('x')],
    [NotFoundException, new NotFoundException('Product', 42)],
    [ForbiddenException, new ForbiddenException()],
    [ConflictException, new ConflictException()],
    [UnauthorizedException, new UnauthorizedException()],
    [TooManyRequestsException, new TooManyRequestsException(1)],
    [ServiceUnavailableException, new ServiceUnavailableException()],
  ] as const
  for (const [{ status, code, title }, { statusCode, ...instance }] of table)
    t.match({ status, code, title }, { status: statusCode, code: instance.code, title: instance.title })
})

test('headers name what the client can do next', async (t) => {
  t.same(new TooManyRequestsException(6.2).headers, { 'retry-after': '7' })
  t.same(new ServiceUnavailableException('down', 3).headers, { 'retry-after': '3' })
  t.same(new UnauthorizedException('no', 'Bearer realm="api"').headers, {
    'www-authenticate': 'Bearer realm="api"',
  })
})

test('an identifier from outside cannot break the message', async (t) => {
  t.equal(new NotFoundException('Note', 'a\r\nb\u2028c').message, 'Note with ID abc not found')
  t.equal(new NotFoundException('Note', 'x'.repeat(1000)).id.length, 200)
  t.equal(new NotFoundException('Note', { a: 1 }).id, '{"a":1}')
  const circular: Record<string, unknown> = {}
  circular.self = circular
  for (const hostile of [
    circular,
    null,
    undefined,
    Symbol('s'),
    {
      toJSON: () => {
        throw new Error('x')
      },
    },
    { toJSON: () => undefined },
    10n,
    [10n],
  ]) {
    t.match(new NotFoundException('Note', hostile).message, /^Note with ID .* not found$/)
  }
})

test('decision 41: the brand recognises exceptions of another copy, and nothing that merely looks like one', async (t) => {
  const foreign = { [Symbol.for('@fastify-modular/domain-exception')]: true }
  t.ok(isDomainException(foreign))
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no')
      },
    },
  )
  for (const other of [
    new Error('x'),
    { statusCode: 404, code: 'NOT_FOUND' },
    null,
    undefined,
    'x',
    hostile,
  ]) {
    t.notOk(isDomainException(other))
  }
})

test('an answer of status 4xx captures no stack, a failure of status 5xx does', async (t) => {
  t.notMatch(new NotFoundException('a', 1).stack ?? '', /\n\s+at /)
  t.match(new ServiceUnavailableException().stack ?? '', /\n\s+at /)
  t.equal(Error.stackTraceLimit > 0, true, 'the limit of the process is left as it was')
  DomainException.stackFrames = 3
  t.teardown(() => void (DomainException.stackFrames = 0))
  t.match(new NotFoundException('a', 1).stack ?? '', /\n\s+at /)
})

test('a message that cannot become text leaves other errors their stacks', (t) => {
  const limit = Error.stackTraceLimit
  t.throws(() => new ConflictException(Symbol('x') as never), TypeError)
  t.equal(Error.stackTraceLimit, limit)
  t.end()
})

test('a time to wait is whole seconds, whatever is computed', (t) => {
  for (const [given, sent] of [
    [1.2, '2'],
    [-5, '0'],
    [Number.NaN, '0'],
    [Number.POSITIVE_INFINITY, '31536000'],
  ] as const) {
    t.equal(new TooManyRequestsException(given).headers?.['retry-after'], sent)
  }
  t.end()
})

test('a cause is kept', async (t) => {
  const cause = new Error('connection refused')
  t.equal(new ServiceUnavailableException('down', undefined, cause).cause, cause)
})
