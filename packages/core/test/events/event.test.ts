import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { defineEvent } from '@fastify-modular/core'
import { eventClassOf } from '#src/events/event.js'
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

test('a payload may have members of any name but eventId', async (t) => {
  const Odd = defineEvent('odd', Type.Object({ id: Type.String(), type: Type.String(), at: Type.Number() }))
  t.same({ ...new Odd({ id: '1', type: 'x', at: 1 }) }, { id: '1', type: 'x', at: 1 })
  t.throws(() => defineEvent('bad', Type.Object({ eventId: Type.String() })), {
    code: 'FMOD_CORE_INVALID_EVENT',
  })
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

test('a schema with a type that JSON cannot carry is refused', async (t) => {
  const when = Type.Object({ list: Type.Array(Type.Object({ at: Type.Optional(Type.Date()) })) })
  t.throws(() => defineEvent('x', when), { code: 'FMOD_CORE_INVALID_EVENT', message: /Date.*use a string/ })
  for (const foreign of [Type.BigInt(), Type.Uint8Array(), Type.Undefined()]) {
    const schema = Type.Object({ value: Type.Union([Type.String(), foreign]) })
    t.throws(() => defineEvent('x', schema), { code: 'FMOD_CORE_INVALID_EVENT' })
  }
  const plain = {
    properties: Type.Object({ type: Type.Literal('Date') }),
    type: Type.Any({ default: { type: 'Date' } }),
  }
  t.ok(defineEvent('x', Type.Object(plain)))
})

test('a value that no event class made is not an event', async (t) => {
  for (const value of [null, undefined, 'x', 5, {}, [], new Date(), Object.create(null)]) {
    t.equal(eventClassOf(value), undefined)
  }
})
