/** Events: plain records with a stable type name and a schema (S 6.1). */
import { randomUUID } from 'node:crypto'
import type { Static, TObject } from '@sinclair/typebox'
import { FMOD_CORE_INVALID_EVENT } from '../misuse-errors.ts'

/** What every event has beside its payload. */
export interface DomainEvent {
  /** Unique per published event; the same at every delivery, so handlers can recognise a repetition. */
  readonly eventId: string
}

/** The class of an event, as `defineEvent` returns it. */
export interface EventClass<E extends DomainEvent = DomainEvent> {
  new (payload: never, eventId?: string): E
  /** Names the event across modules, processes and versions: `notes.published`. */
  readonly type: string
  /** The payload's schema; payloads are checked when published and when received. */
  readonly schema: TObject
}

/** An event class whose payload type is known. */
export interface DefinedEvent<S extends TObject> {
  new (payload: Static<S>, eventId?: string): DomainEvent & Readonly<Static<S>>
  readonly type: string
  readonly schema: S
}

/**
 * The base class of one kind of event:
 * `class NotePublished extends defineEvent('notes.published', Type.Object({ noteId: Type.String() })) {}`.
 * Instances carry the payload's members, frozen, and an `eventId`.
 * @throws {FMOD_CORE_INVALID_EVENT} the type is empty, or the schema uses the reserved member `eventId`
 */
export function defineEvent<S extends TObject>(type: string, schema: S): DefinedEvent<S> {
  if (typeof type !== 'string' || type === '')
    throw new FMOD_CORE_INVALID_EVENT(String(type), 'its type is empty')
  if ('eventId' in schema.properties) {
    throw new FMOD_CORE_INVALID_EVENT(type, 'its schema uses the reserved member eventId')
  }
  class Defined {
    static readonly type = type
    static readonly schema = schema
    declare readonly eventId: string

    constructor(payload: Static<S>, eventId: string = randomUUID()) {
      Object.assign(this, payload)
      // Not enumerable, so that an event serialises to its payload alone.
      Object.defineProperty(this, 'eventId', { value: eventId })
      Object.freeze(this)
    }
  }
  return Defined as unknown as DefinedEvent<S> // the payload's members come from Object.assign
}

/** The class an event was made with, or undefined if it is not an event. */
export function eventClassOf(event: unknown): EventClass | undefined {
  if (typeof event !== 'object' || event === null) return undefined
  const made: unknown = event.constructor
  return typeof made === 'function' && 'type' in made && 'schema' in made
    ? (made as unknown as EventClass)
    : undefined
}
