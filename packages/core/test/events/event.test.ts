// Runs alone: a class of an event with a schema that Ajv refuses stops every later boot of its process.
import { type TSchema, Type } from '@sinclair/typebox'
import { test, type Test } from 'tap'
import { defineEvent } from '@fastify-modular/core'
import { EventClasses, eventClassOf } from '#src/events/event.js'
import { startApp } from './fixtures/app.js'
import { NoteShared } from './fixtures/events.js'

test('S 6.1: an event is a plain record: its JSON is its payload, and it does not change', async (t) => {
  const event = new NoteShared({ noteId: 'n1', by: 'alice' })
  t.equal(JSON.stringify(event), '{"noteId":"n1","by":"alice"}')
  t.ok(Object.isFrozen(event))
  t.equal(eventClassOf(event), NoteShared)
})

test('every event has an id of its own, and a delivered one keeps it', async (t) => {
  const payload = { noteId: 'n1', by: 'alice' }
  t.not(new NoteShared(payload).eventId, new NoteShared(payload).eventId)
  t.equal(new NoteShared(payload, 'id-1').eventId, 'id-1')
})

test('a stored event keeps its id and its payload, whatever the constructor of its class takes', async (t) => {
  const schema = Type.Object({ noteId: Type.String() })
  class Short extends defineEvent('test.short', schema) {
    constructor({ noteId }: { noteId: string }) {
      super({ noteId })
    }
    get path(): string {
      return `/notes/${this.noteId}`
    }
  }
  class Other extends defineEvent('test.other', schema) {
    constructor(note: { id: string }) {
      super({ noteId: note.id })
    }
  }
  const classes = new EventClasses()
  for (const event of [new Short({ noteId: 'n1' }), new Other({ id: 'n1' })]) {
    const revived = classes.revive(classes.accept(event), event.eventId, JSON.parse(JSON.stringify(event)))
    t.equal(revived.constructor, event.constructor)
    t.same({ ...revived }, { noteId: 'n1' })
    t.equal(revived.eventId, event.eventId)
    t.ok(Object.isFrozen(revived))
    if (revived instanceof Short) t.equal(revived.path, '/notes/n1')
  }
})

test('a payload may have members of any name but eventId', async (t) => {
  const Odd = defineEvent('odd', Type.Object({ id: Type.String(), type: Type.String(), at: Type.Number() }))
  t.same({ ...new Odd({ id: '1', type: 'x', at: 1 }) }, { id: '1', type: 'x', at: 1 })
  t.throws(() => defineEvent('bad', Type.Object({ eventId: Type.String() })), {
    code: 'FMOD_CORE_INVALID_EVENT',
  })
  const reserved = Type.Object({ eventId: Type.String() })
  for (const schema of [
    { type: 'object', required: ['eventId'] },
    Type.Intersect([Type.Object({ id: Type.String() }), reserved]),
    Type.Union([Type.Object({ id: Type.String() }), reserved]),
    { oneOf: [{ allOf: [{ required: ['eventId'] }] }] },
  ])
    t.throws(() => defineEvent('bad', schema), { code: 'FMOD_CORE_INVALID_EVENT' })
  t.ok(defineEvent('nested', Type.Object({ cause: reserved })))
  t.throws(() => defineEvent('', Type.Object({})), { code: 'FMOD_CORE_INVALID_EVENT' })
  const Built = defineEvent('built', Type.Object({ constructor: Type.String() }))
  t.equal(eventClassOf(new Built({ constructor: 'x' } as never)), Built)
})

test('members of a payload change neither the id nor the class of an event', async (t) => {
  const Open = defineEvent('open', Type.Object({ a: Type.Number() }))
  const stranger: { a: number } = JSON.parse('{"a":1,"eventId":"forged"}')
  const event = new Open(stranger)
  t.not(event.eventId, 'forged')
  t.equal(JSON.stringify(event), '{"a":1}')
  t.throws(() => new Open(JSON.parse('{"a":1,"__proto__":{"b":2}}') as { a: number }), {
    code: 'FMOD_CORE_INVALID_EVENT',
    message: /__proto__/,
  })
})

const boot = async (t: Test) => (await startApp(t, { isReady: false })).app

test('formats are checked, and no value is changed', async (t) => {
  const schema = Type.Object({
    at: Type.String({ format: 'date-time' }),
    mail: Type.Optional(Type.String({ format: 'email', default: 'a@example.org' })),
    count: Type.Optional(Type.Integer()),
  })
  class Dated extends defineEvent('test.dated', schema) {}
  const app = await boot(t)
  const at = '2026-11-22T10:00:00Z'
  const event = new Dated({ at })
  await app.events.publish(event)
  t.equal(JSON.stringify(event), JSON.stringify({ at }))
  for (const wrong of [{ at: 'yesterday' }, { at, mail: 'nobody' }, { at, count: '5' }])
    await t.rejects(app.events.publish(new Dated(wrong as never)), {
      code: 'FMOD_CORE_INVALID_EVENT',
      message: /\/(?:at|mail|count): must/,
    })
})

test('any JSON Schema will do, with the type of its payload as an argument', async (t) => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { noteId: { $ref: '#/definitions/id' } },
    required: ['noteId'],
    definitions: { id: { type: 'string', minLength: 2 } },
  }
  Object.defineProperty(schema, '~kind', { value: 'Object' }) // how TypeBox 1 marks its schemas
  class Moved extends defineEvent<{ noteId: string }>('test.moved', schema) {}
  const app = await boot(t)
  const event = new Moved({ noteId: 'n1' })
  const noteId: string = event.noteId
  await app.events.publish(event)
  t.equal(noteId, 'n1')
  await t.rejects(app.events.publish(new Moved({ noteId: 'n' })), { code: 'FMOD_CORE_INVALID_EVENT' })
  // @ts-expect-error the payload has a type
  t.ok(new Moved({ id: 'n1' }))
})

test('a member that every object inherits is a member like any other', async (t) => {
  const schema = Type.Object({
    constructor: Type.Optional(Type.String()),
    toString: Type.Optional(Type.String()),
  })
  class Inherited extends defineEvent('test.inherited', schema) {}
  await (await boot(t)).events.publish(new Inherited({} as never))
})

test('what JSON cannot carry is refused where it is published, on every transport', async (t) => {
  class Free extends defineEvent('test.free', { type: 'object' }) {}
  const app = await boot(t)
  const endless: { self?: unknown } = {}
  endless.self = endless
  class Row {
    id = 'n1'
  }
  const carried = [null, true, 'x', 1.5, [1, { a: [] }], { a: undefined }, new Row(), Object.create(null)]
  for (const member of carried) {
    const event = new Free({ member })
    await app.events.publish(event)
    t.same(JSON.parse(JSON.stringify(event)), JSON.parse(JSON.stringify({ member })))
  }
  for (const member of [
    10n,
    Number.NaN,
    Infinity,
    new Date(0),
    new Map([[1, 2]]),
    new Set([1]),
    Buffer.from('x'),
    new URL('http://127.0.0.1'),
    Symbol('x'),
    () => 1,
    [undefined],
    Array(2),
    { toJSON: () => 'other' },
    endless,
  ])
    for (const payload of [{ member }, { list: [{ member }] }])
      await t.rejects(app.events.publish(new Free(payload)), {
        code: 'FMOD_CORE_INVALID_EVENT',
        message: /test\.free.*JSON/,
      })
})

test('a member toJSON that is data is a value like any other', async (t) => {
  const app = await boot(t)
  const Free = defineEvent(
    'test.data',
    Type.Object({ member: Type.Unknown() }, { additionalProperties: true }),
  )
  for (const toJSON of [1, null, 'x', {}, []]) {
    await app.events.publish(new Free({ member: { toJSON } }))
    await app.events.publish(new Free(Object.assign({ member: [{ toJSON }] }, { toJSON })))
  }
  t.equal(app.events.stats().published, 10)
})

test('an event without members is made without an argument', async (t) => {
  class Tick extends defineEvent('test.tick', Type.Object({})) {}
  const app = await boot(t)
  await app.events.publish(new Tick())
  t.equal(JSON.stringify(new Tick()), '{}')
  // @ts-expect-error it has members
  await t.rejects(app.events.publish(new NoteShared()), {
    code: 'FMOD_CORE_INVALID_EVENT',
    message: /noteId/,
  })
})

test('a class with toJSON is refused when it is published: its JSON would not be its payload', async (t) => {
  class Shortened extends defineEvent('test.shortened', Type.Object({ cents: Type.Integer() })) {
    toJSON() {
      return { amount: this.cents / 100 }
    }
  }
  const app = await boot(t)
  await t.rejects(app.events.publish(new Shortened({ cents: 100 })), {
    code: 'FMOD_CORE_INVALID_EVENT',
    message: /test\.shortened.*toJSON/,
  })
})

const value = (schema: TSchema) => Type.Object({ list: Type.Array(Type.Object({ value: schema })) })

/** What Ajv does not know, or JSON cannot carry. */
const refused: Readonly<Record<string, object>> = {
  'a Date': value(Type.Date()),
  'a bigint': value(Type.Union([Type.String(), Type.BigInt()])),
  bytes: value(Type.Uint8Array()),
  undefined: value(Type.Undefined()),
  'a misspelt format': value(Type.String({ format: 'datetime' })),
  'a misspelt keyword': { type: 'object', propertes: {} },
  'a pattern that is no expression': value(Type.String({ pattern: '(' })),
}

// The last test: what it defines stops every later boot of this process.
test('each schema that Ajv refuses stops every boot, and names its event', async (t) => {
  const before = await boot(t)
  for (const [what, schema] of Object.entries(refused)) {
    class Wrong extends defineEvent(`test.${what}`, schema) {}
    await t.rejects(before.events.publish(new Wrong({})), { code: 'FMOD_CORE_INVALID_EVENT' })
    for (let time = 0; time < 2; time++) {
      const failure = await boot(t).catch((error: Error) => error)
      t.match(failure, { code: 'FMOD_CORE_INVALID_EVENT', message: /"test\.a Date".*schema/ })
      t.match((failure as Error).message, `test.${what}`)
    }
  }
})
