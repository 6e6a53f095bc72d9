/** No secret of a call is in what log and status say of its error. */
import { hiding, toFailure } from '#src/resources/failure.js'
import fc from 'fast-check'
import { test } from 'tap'

const secret = 'S3cr€t/p&ss "w+rd"'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** How clients quote what they were given. */
const quoted: Readonly<Record<string, string>> = {
  'as it is': `sign-in with ${secret} failed`,
  'in another letter case': `sign-in with ${secret.toUpperCase()} failed`,
  'URL-encoded': `redis://:${encodeURIComponent(secret)}@cache`,
  'URL-encoded in small letters': `redis://:${encodeURIComponent(secret).toLowerCase()}@cache`,
  'as a form': `body ${new URLSearchParams({ password: secret }).toString()}`,
  'as the user info of a URL': Object.assign(new URL('redis://x'), { password: secret }).href,
  'in JSON': JSON.stringify({ auth: { pass: secret } }),
  'in base64': `AUTH ${base64(secret)}`,
  'in base64 for URLs': `AUTH ${Buffer.from(secret).toString('base64url')}`,
  'in Basic credentials': `Basic ${base64(`user:${secret}`)}`,
  'in Basic credentials of a user with one more letter': `Basic ${base64(`user1:${secret}`)}`,
  'in Basic credentials of a user with two more letters': `Basic ${base64(`user12:${secret}`)}`,
  'in AUTH PLAIN': `334 ${base64(`\0user\0${secret}`)}`,
}

for (const [name, message] of Object.entries(quoted))
  test(`a secret that an error quotes ${name} is hidden in its name, code and message`, async (t) => {
    const error = Object.assign(new Error(message, { cause: new Error(message) }), {
      name: message,
      code: message,
      config: { auth: { pass: message } },
    })
    const text = JSON.stringify(toFailure(error, hiding([secret])))
    for (const [where, form] of Object.entries(quoted)) t.notOk(text.includes(form), where)
    t.notMatch(text, /S3cr|p%26ss|p&ss|w%2brd/i)
    t.match(text, '•••')
  })

test('whatever surrounds a secret, neither the secret nor its encoded form is in the message', async (t) => {
  const part = fc.string({ unit: 'binary', maxLength: 20 })
  const hidden = fc.string({ unit: 'binary', minLength: 4, maxLength: 40 })
  fc.assert(
    fc.property(part, hidden, part, (before, given, after) => {
      const value = given.toWellFormed()
      const whole = `${before}${value}${after}`.toWellFormed()
      fc.pre(whole.includes(value))
      for (const encode of [(text: string) => text, encodeURIComponent, base64]) {
        const { message } = toFailure(new Error(encode(whole)), hiding([value]))
        if (message.includes(encode(value)) && !'•••'.includes(value)) return false
        if (encode === base64 && !message.includes('•••')) return false
      }
      return true
    }),
  )
  t.pass()
})

test('texts and numbers within a value are hidden, a long one part by part', async (t) => {
  const key = Array.from({ length: 900 }, (_, index) => index.toString(36).padStart(3, 'k')).join('')
  const hide = hiding([
    { login: { user: 'ada-the-first', pin: 482_913 }, keys: ['first-key', null, true] },
    key,
  ])
  for (const quote of ['ada-the-first', '482913', 'first-key', key.slice(0, 1400), base64(key)])
    t.match(hide(`of ${quote}`), '•••', quote.slice(0, 20))
  t.notMatch(hide(key), /k1k/)
})

test('a message is cut to 200 characters after secrets were hidden', async (t) => {
  const hide = hiding(['geheim'])
  t.equal(hide(`${'x'.repeat(197)}geheim`).length, 200)
  t.notMatch(hide(`${'x'.repeat(197)}geheim`), /g/)
  t.equal(hide('y'.repeat(70_000)), 'A message of 70000 characters.')
})

test('what is not an error has a message all the same', async (t) => {
  const hide = hiding(['geheim'])
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('geheim')
      },
    },
  )
  for (const thrown of [undefined, null, 7, {}, hostile, Object.create(null)])
    t.strictSame(toFailure(thrown, hide), {
      name: 'Error',
      code: null,
      message: 'It failed without a message.',
    })
  t.strictSame(toFailure('with geheim', hide), { name: 'Error', code: null, message: 'with •••' })
  t.strictSame(toFailure({ name: 'Odd', code: 7, message: { geheim: 1 } }, hide), {
    name: 'Odd',
    code: '7',
    message: 'It failed without a message.',
  })
})

test('nothing is hidden where there is no secret, and an empty one is none', async (t) => {
  for (const secrets of [[], [''], [null], [true]])
    t.equal(
      toFailure(new Error('connect ECONNREFUSED 127.0.0.1:587'), hiding(secrets)).message,
      'connect ECONNREFUSED 127.0.0.1:587',
    )
})
