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
})

test('what was not made by an event class is not an event', async (t) => {
  for (const value of [null, undefined, 'x', 5, {}, [], new Date(), Object.create(null)]) {
    t.equal(eventClassOf(value), undefined)
  }
})
