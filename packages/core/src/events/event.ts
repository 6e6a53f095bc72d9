/** Events: plain records with a stable type name and a schema (S 6.1), and the classes that an application knows. */
import { randomUUID } from 'node:crypto'
import type { Static, TObject } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { FMOD_CORE_DUPLICATE_EVENT_TYPE, FMOD_CORE_INVALID_EVENT } from '../misuse-errors.ts'

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
 * @throws {FMOD_CORE_INVALID_EVENT} the type is empty, or the schema uses the reserved member `eventId` or a type that
 * JSON cannot carry: a durable transport could store such an event, but never read it again
 */
export function defineEvent<S extends TObject>(type: string, schema: S): DefinedEvent<S> {
  if (typeof type !== 'string' || type === '')
    throw new FMOD_CORE_INVALID_EVENT(String(type), 'its type is empty')
  if ('eventId' in schema.properties) {
    throw new FMOD_CORE_INVALID_EVENT(type, 'its schema uses the reserved member eventId')
  }
  const foreign = foreignType(schema)
  if (foreign !== undefined) {
    throw new FMOD_CORE_INVALID_EVENT(
      type,
      `JSON cannot carry the type ${foreign} of its schema; use a string`,
    )
  }
  class Defined {
    static readonly type = type
    static readonly schema = schema
    declare readonly eventId: string

    constructor(payload: Static<S>, eventId: string = randomUUID()) {
      Object.assign(this, payload)
      // Assigned from parsed JSON, `__proto__` would make this an instance of something else.
      if (Object.getPrototypeOf(this) !== new.target.prototype)
        throw new FMOD_CORE_INVALID_EVENT(type, 'its payload has a member named __proto__')
      // Not enumerable, so that an event serialises to its payload alone; nor taken from a payload that brings one.
      Object.defineProperty(this, 'eventId', { value: eventId, enumerable: false, writable: false })
      Object.freeze(this)
    }
  }
  return Defined as unknown as DefinedEvent<S> // the payload's members come from Object.assign
}

const jsonTypes: ReadonlySet<string> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
])

/** The first type in a schema that JSON does not have: `Date`, `bigint`, `Uint8Array`, `undefined`. */
function foreignType(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'type' && typeof value === 'string' && !jsonTypes.has(value)) return value
    const isData = name === 'const' || name === 'default' || name === 'enum' || name === 'examples'
    const found = isData ? undefined : foreignType(value)
    if (found !== undefined) return found
  }
  return undefined
}

/** The class of an event, or undefined if the value is not an event. */
export function eventClassOf(event: unknown): EventClass | undefined {
  if (typeof event !== 'object' || event === null) return undefined
  const prototype: unknown = Object.getPrototypeOf(event) // the event's own members may be called anything
  const made = (prototype as { constructor?: unknown } | null)?.constructor
  return isEventClass(made) ? made : undefined
}

/** The type of an event that a class of `defineEvent` made, which the bus has checked. */
export function eventTypeOf(event: DomainEvent): string {
  return (Object.getPrototypeOf(event) as { readonly constructor: EventClass }).constructor.type
}

/** Whether a value is a class from `defineEvent`. */
export function isEventClass(value: unknown): value is EventClass {
  return typeof value === 'function' && 'type' in value && 'schema' in value
}

/** A class, and its schema compiled at first use: importing a module does no work. */
interface KnownClass {
  readonly eventClass: EventClass
  check?: TypeCheck<TObject>
}

/** The event classes that one application knows. */
export class EventClasses {
  readonly #byType = new Map<string, KnownClass>()

  /** @throws {FMOD_CORE_DUPLICATE_EVENT_TYPE} another class has this type */
  add(eventClass: EventClass): KnownClass {
    const known = this.#byType.get(eventClass.type)
    if (known && known.eventClass !== eventClass) throw new FMOD_CORE_DUPLICATE_EVENT_TYPE(eventClass.type)
    if (known) return known
    const added = { eventClass }
    this.#byType.set(eventClass.type, added)
    return added
  }

  /**
   * Adds the class of an event and checks the payload; returns the type.
   * @throws {FMOD_CORE_INVALID_EVENT} not an event, or its payload does not fit the schema
   * @throws {FMOD_CORE_DUPLICATE_EVENT_TYPE} another class has this type
   */
  accept(event: unknown): string {
    const eventClass = eventClassOf(event)
    if (!eventClass)
      throw new FMOD_CORE_INVALID_EVENT(typeof event, 'it was not made by a class from defineEvent')
    checkPayload(this.add(eventClass), event)
    return eventClass.type
  }

  /** Makes a stored event again. @throws {FMOD_CORE_INVALID_EVENT} unknown type or invalid payload */
  revive(type: string, eventId: string, payload: unknown): DomainEvent {
    const known = this.#byType.get(type)
    if (!known) throw new FMOD_CORE_INVALID_EVENT(type, 'no class of this type is known here')
    checkPayload(known, payload)
    return new known.eventClass(payload as never, eventId)
  }
}

function checkPayload(known: KnownClass, payload: unknown): void {
  known.check ??= TypeCompiler.Compile(known.eventClass.schema)
  if (known.check.Check(payload)) return
  // The path and the rule, never the value: it may be a secret.
  const first = known.check.Errors(payload).First()
  const problem = `${first?.path || 'the payload'}: ${first?.message ?? 'invalid'}`
  throw new FMOD_CORE_INVALID_EVENT(known.eventClass.type, problem)
}
