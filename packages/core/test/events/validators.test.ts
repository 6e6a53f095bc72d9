/** Events whose payloads a validator of Standard Schema checks. */
import { defineEvent, type DomainEvent } from '@fastify-modular/core'
import { type } from 'arktype'
import { test } from 'tap'
import * as v from 'valibot'
import { z } from 'zod'
import { EventClasses } from '#src/events/event.js'

const byVendor = {
  zod: defineEvent('notes.zod', z.object({ noteId: z.string().min(2), mail: z.email().optional() })),
  valibot: defineEvent(
    'notes.valibot',
    v.object({ noteId: v.pipe(v.string(), v.minLength(2)), mail: v.optional(v.pipe(v.string(), v.email())) }),
  ),
  arktype: defineEvent('notes.arktype', type({ noteId: 'string >= 2', 'mail?': 'string.email' })),
}

for (const [vendor, Event] of Object.entries(byVendor)) {
  test(`${vendor}: a payload is checked when published and when received, and no error quotes it`, async (t) => {
    const classes = new EventClasses()
    const event = new Event({ noteId: 'n1', mail: 'a@example.org' })
    t.equal(classes.accept(event), Event.type)
    t.same({ ...classes.revive(Event.type, 'id-1', { noteId: 'n2' }) }, { noteId: 'n2' })
    const refused = { noteId: 'n1', mail: 'c4n4ry "quoted"' }
    for (const attempt of [
      () => classes.accept(new Event(refused)),
      () => classes.revive(Event.type, 'id-1', refused),
    ])
      t.throws(attempt, {
        code: 'FMOD_CORE_INVALID_EVENT',
        message: /^(?![^]*c4n4ry)[^]*: \/mail: This value does not fit\.\s/,
      })
    t.throws(() => classes.revive(Event.type, 'id-1', 'text'), {
      message: /: the payload: This value does not fit\.\s/,
    })
  })
}

test('a payload is what the validator makes of it already: nothing is filled in, trimmed or converted', async (t) => {
  const classes = new EventClasses()
  const Defaulted = defineEvent('v.default', z.object({ a: z.string().trim(), n: z.number().default(1) }))
  classes.accept(new Defaulted({ n: 1, a: 'x' }))
  const message = /its schema makes another value of it/
  for (const payload of [{ a: 'x' }, { a: ' x ', n: 1 }, { a: 'x', n: 1, more: true }])
    t.throws(() => classes.accept(new Defaulted(payload as never)), { message })
})

const unreadable = {
  toString() {
    throw new Error('c4n4ry')
  },
}

for (const [name, validate, problem] of [
  [
    'throws',
    () => {
      throw new Error('c4n4ry')
    },
    /its schema throws/,
  ],
  ['rejects', () => Promise.reject(new Error('c4n4ry')), /its schema is asynchronous/],
  [
    'makes something that throws when it is read',
    () => ({
      value: {
        get a() {
          throw new Error('c4n4ry')
        },
      },
    }),
    /its schema throws/,
  ],
  ['returns nothing', () => undefined, /its schema makes another value of it/],
  ['refuses without a word', () => ({ issues: [] }), /This value does not fit\./],
  ['returns no issues', () => ({ issues: 'c4n4ry' }), /This value does not fit\./],
  [
    'names a place that cannot be read',
    () => ({ issues: [{ path: [unreadable] }] }),
    /This value does not fit\./,
  ],
  [
    'names a place by an object',
    () => ({ issues: [{ path: [{ key: unreadable }] }] }),
    /This value does not fit\./,
  ],
] as const)
  test(`a validator that ${name} refuses the event`, async (t) => {
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const
    const Event = defineEvent<{ a: string }>('v.broken', schema as object)
    t.throws(() => new EventClasses().accept(new Event({ a: 'x' })), {
      code: 'FMOD_CORE_INVALID_EVENT',
      message: problem,
    })
    t.throws(() => new EventClasses().accept(new Event({ a: 'x' })), { message: /^(?![^]*c4n4ry)/ })
  })

test('the type of an event is that of the output', (t) => {
  const Typed = defineEvent('v.typed', z.object({ noteId: z.string(), n: z.number().default(1) }))
  const event: DomainEvent & { readonly noteId: string; readonly n: number } = new Typed({
    noteId: 'n1',
    n: 2,
  })
  // @ts-expect-error -- the output has n
  t.ok(new Typed({ noteId: 'n1' }))
  t.equal(event.n, 2)
  t.end()
})
