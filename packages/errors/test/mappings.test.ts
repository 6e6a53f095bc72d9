import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { ConflictException, defineProblem, NotFoundException } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import { createApp, throwing } from './support/app.js'
import { generic, problemOf } from './support/expect.js'

class OutOfCredit extends defineProblem({
  status: 402,
  code: 'OUT_OF_CREDIT',
  title: 'Out of credit',
  extensions: Type.Object({ balance: Type.Number() }),
}) {}

class PaymentError extends Error {
  readonly balance: number
  constructor(balance: number) {
    super('secret account 4711')
    this.balance = balance
  }
}

class CardError extends PaymentError {}

const isPayment = (error: unknown): error is PaymentError => error instanceof PaymentError
const toOutOfCredit = ({ balance }: PaymentError) =>
  new OutOfCredit(`Your balance is ${balance}.`, { balance })

test('E70: an error becomes a problem with type and extensions of its own', async (t) => {
  const { app } = await createApp(t, {
    after(it) {
      it.problems.map(isPayment, { to: toOutOfCredit })
      it.get('/', throwing(new PaymentError(30)))
    },
  })
  const answer = await app.inject('/')
  t.match(problemOf(t, answer, 402, 'Out of credit'), {
    type: 'urn:problem:out-of-credit',
    code: 'OUT_OF_CREDIT',
    balance: 30,
    detail: 'Your balance is 30.',
  })
  t.notMatch(answer.body, 'secret')
})

test('an exception of a defined class is answered by what its class says, thrown or sent', async (t) => {
  class OnHoliday extends defineProblem({ status: 503, code: 'ON_HOLIDAY', title: 'On holiday' }) {}
  const poor = () => new OutOfCredit('Your balance is 30.', { balance: 30 })
  const { app, failures } = await createApp(t, {
    errors: { typeBase: 'https://example.com/problems/' },
    after(it) {
      it.get('/', throwing(poor()))
      it.get('/hook', { onRequest: (_request, reply, _done) => void reply.send(poor()) }, () => 'no')
      it.get('/callback', (_, reply) => void setImmediate(() => void reply.send(poor())))
      it.get('/holiday', throwing(new OnHoliday('ask Bob')))
    },
  })
  for (const url of ['/', '/hook', '/callback']) {
    const body = problemOf(t, await app.inject(url), 402, 'Out of credit')
    t.equal(body.type, 'https://example.com/problems/out-of-credit')
    t.equal(body.detail, 'Your balance is 30.')
    t.equal(body['balance'], 30)
  }
  t.equal(problemOf(t, await app.inject('/holiday'), 503, 'On holiday').detail, generic, 'decision 42')
  t.equal(failures().length, 4)
})

test('E71: mappings of a plugin hold for that plugin and those below it', async (t) => {
  const fail = throwing(new PaymentError(1))
  const { app } = await createApp(t, {
    after(it) {
      it.register(async (child) => {
        child.problems.map(PaymentError, { to: toOutOfCredit })
        child.get('/child', fail)
        child.register(async (grandchild) => grandchild.get('/grandchild', fail))
      })
      it.register(async (sibling) => sibling.get('/sibling', fail))
      it.get('/', fail)
    },
  })
  problemOf(t, await app.inject('/child'), 402)
  problemOf(t, await app.inject('/grandchild'), 402)
  problemOf(t, await app.inject('/sibling'), 500)
  problemOf(t, await app.inject('/'), 500)
})

test('a mapping of the root, added after a child scope was made, holds there too', async (t) => {
  const { app } = await createApp(t, {
    async after(it) {
      await it.register(async (child) => {
        child.get('/', throwing(new PaymentError(1)))
      })
      it.problems.map(PaymentError, { to: () => ({ status: 402 }) })
    },
  })
  problemOf(t, await app.inject('/'), 402, 'Payment Required')
})

test('the nearest class decides, then the newest predicate; undefined passes the error on', async (t) => {
  const { app } = await createApp(t, {
    after(it) {
      it.problems
        .map(PaymentError, { to: (e) => (e.balance < 0 ? undefined : { status: 402, code: 'PAYMENT' }) })
        .map(CardError, { to: () => ({ status: 409, code: 'CARD' }) })
        .map((error) => error === 'text', { to: () => ({ status: 410 }) })
        .map(isPayment, { to: () => ({ status: 423 }) })
        .map(isPayment, { to: () => ({ status: 424 }) })
      it.get<{ Querystring: { kind: string } }>('/', ({ query: { kind } }) => {
        if (kind === 'text') throw 'text' // oxlint-disable-line typescript/only-throw-error
        throw kind === 'card' ? new CardError(1) : new PaymentError(Number(kind))
      })
    },
  })
  t.equal(problemOf(t, await app.inject('/?kind=card'), 409).code, 'CARD')
  t.equal(problemOf(t, await app.inject('/?kind=5'), 402).code, 'PAYMENT')
  t.equal(problemOf(t, await app.inject('/?kind=5'), 402).type, 'urn:problem:payment')
  problemOf(t, await app.inject('/?kind=-5'), 424)
  problemOf(t, await app.inject('/?kind=text'), 410)
})

test('a mapper may answer by a domain exception, and mappings win over the built-in ones', async (t) => {
  const { app } = await createApp(t, {
    after(it) {
      it.problems
        .map(PaymentError, { to: () => new ConflictException('paid already') })
        .map(NotFoundException, { to: () => ({ status: 410, type: 'about:blank', title: 'ignored' }) })
      it.get('/payment', throwing(new PaymentError(1)))
      it.get('/gone', throwing(new NotFoundException('Product', 42)))
    },
  })
  t.equal(problemOf(t, await app.inject('/payment'), 409, 'Conflict').detail, 'paid already')
  problemOf(t, await app.inject('/gone'), 410, 'Gone')
})

test('a mapper that throws or answers rubbish is logged, and the error takes the usual way', async (t) => {
  const { app, log, failures } = await createApp(t, {
    after(it) {
      it.problems
        .map(PaymentError, {
          to: throwing(new Error('mapper broke')),
        })
        .map(isPayment, { to: () => ({ status: 200 }) })
        .map(throwing(new Error('predicate broke')), { to: () => ({ status: 400 }) })
      it.get('/', throwing(new PaymentError(1)))
    },
  })
  problemOf(t, await app.inject('/'), 500)
  t.equal(log.filter(({ msg }) => msg.startsWith('a problem mapping failed')).length, 3)
  t.match(failures(), [{ err: { message: 'secret account 4711' } }])
})

test('the level of the log is the mapping’s to choose', async (t) => {
  const { app, failures } = await createApp(t, {
    after(it) {
      it.problems.map(PaymentError, { to: () => ({ status: 402 }), logLevel: 'warn' })
      it.problems.map(TypeError, { to: () => ({ status: 400 }), logLevel: 'silent' })
      it.get('/', throwing(new PaymentError(1)))
      it.get('/silent', throwing(new TypeError()))
    },
  })
  await app.inject('/')
  await app.inject('/silent')
  t.match(failures(), [{ level: 40 }])
})

test('E87: two applications in one process share nothing', async (t) => {
  const route = (it: FastifyInstance) => it.get('/', throwing(new PaymentError(1)))
  const one = await createApp(t, {
    after: (it) => route(it).problems.map(PaymentError, { to: () => ({ status: 402 }) }),
  })
  const two = await createApp(t, { after: route })
  problemOf(t, await one.app.inject('/'), 402)
  problemOf(t, await two.app.inject('/'), 500)
})

test('classes and predicates are told apart, whatever they look like', async (t) => {
  class Plain {}
  function Old(this: object): void {}
  Object.setPrototypeOf(Old.prototype, Error.prototype)
  class Statement extends PaymentError {}
  Statement.toString = () => '(error) => true'
  const predicate = Object.assign((error: unknown): boolean => error === 'text', {
    toString: () => 'class Trap {}',
  })
  function declared(error: unknown): boolean {
    return error === 'declared'
  }
  const thrown: readonly unknown[] = [
    new Plain(),
    Reflect.construct(Old, []),
    new Statement(1),
    new RangeError('x'),
    'text',
    'declared',
  ]
  const { app } = await createApp(t, {
    after(it) {
      const matches = [Plain, Old as unknown as typeof Plain, Statement, RangeError, predicate, declared]
      for (const [index, match] of matches.entries())
        it.problems.map(match as typeof Plain, { to: () => ({ status: 450 + index }) })
      it.get<{ Params: { index: number } }>('/:index', ({ params }) => {
        throw thrown[params.index] // oxlint-disable-line typescript/only-throw-error
      })
    },
  })
  for (const index of thrown.keys()) t.equal((await app.inject(`/${index}`)).statusCode, 450 + index)
})
