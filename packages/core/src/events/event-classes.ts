/** The event classes an application has met, with their compiled schemas. */
import type { TObject } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { FMOD_CORE_DUPLICATE_EVENT_TYPE, FMOD_CORE_INVALID_EVENT } from '../misuse-errors.ts'
import { type DomainEvent, type EventClass, eventClassOf } from './event.ts'

export interface EventClasses {
  /** @throws {FMOD_CORE_DUPLICATE_EVENT_TYPE} another class has this type */
  add(eventClass: EventClass): void
  /** The class of a valid event. @throws {FMOD_CORE_INVALID_EVENT} not an event, or its payload breaks the schema */
  check(event: unknown): EventClass
  /** Makes a stored event again. @throws {FMOD_CORE_INVALID_EVENT} unknown type or invalid payload */
  revive(type: string, eventId: string, payload: unknown): DomainEvent
}

export function createEventClasses(): EventClasses {
  const byType = new Map<string, { eventClass: EventClass; check?: TypeCheck<TObject> }>()

  function add(eventClass: EventClass) {
    const known = byType.get(eventClass.type)
    if (known && known.eventClass !== eventClass) throw new FMOD_CORE_DUPLICATE_EVENT_TYPE(eventClass.type)
    const entry = known ?? { eventClass }
    byType.set(eventClass.type, entry)
    return entry
  }

  function assertPayload(type: string, payload: unknown): void {
    const entry = byType.get(type)
    if (!entry) throw new FMOD_CORE_INVALID_EVENT(type, 'no class of this type is known here')
    // Compiled at first use: importing a module does no work.
    entry.check ??= TypeCompiler.Compile(entry.eventClass.schema)
    if (entry.check.Check(payload)) return
    // The path and the rule, never the value: it may be a secret.
    const first = entry.check.Errors(payload).First()
    throw new FMOD_CORE_INVALID_EVENT(type, `${first?.path || 'the payload'}: ${first?.message ?? 'invalid'}`)
  }

  return {
    add: (eventClass) => void add(eventClass),
    check(event) {
      const eventClass = eventClassOf(event)
      if (!eventClass)
        throw new FMOD_CORE_INVALID_EVENT(typeof event, 'it was not made by a class from defineEvent')
      add(eventClass)
      assertPayload(eventClass.type, event)
      return eventClass
    },
    revive(type, eventId, payload) {
      assertPayload(type, payload)
      const { eventClass } = byType.get(type) as { eventClass: EventClass }
      return new eventClass(payload as never, eventId)
    },
  }
}
