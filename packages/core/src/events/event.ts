/** Events: plain records with a stable type name and a schema (S 6.1), and the classes that an application knows. */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Static, TObject } from '@sinclair/typebox'
import { failureText } from '../internal/failures.ts'
import { compileSchemaErrors } from '../internal/json-schema.ts'
import { safeRead } from '../internal/safe.ts'
import {
  isStandardSchema,
  type StandardOutput,
  type StandardSchema,
  validateStandard,
} from '../internal/standard-schema.ts'
import { errorCodes } from '../misuse-errors.ts'

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
  /** The payload's JSON Schema or validator; payloads are checked when published and when received. */
  readonly schema: object
}

/** An event class whose payload type is known. */
export interface DefinedEvent<Payload extends object> {
  /** An event without members needs no argument. */
  new (
    ...given: object extends Payload
      ? [payload?: Payload, eventId?: string]
      : [payload: Payload, eventId?: string]
  ): DomainEvent & Readonly<Payload>
  readonly type: string
  readonly schema: object
}

/**
 * The base class of one kind of event:
 * `class NotePublished extends defineEvent('notes.published', Type.Object({ noteId: Type.String() })) {}`.
 * Instances carry the payload's members, frozen, and an `eventId`. The schema is any JSON Schema (draft 7, with the
 * formats of ajv-formats). TypeBox 0.34 gives the type; another schema takes it as an argument:
 * `defineEvent<{ noteId: string }>('notes.published', { type: 'object', … })`. A schema that Ajv refuses stops the next
 * boot of an application. A validator of Standard Schema (Zod, Valibot, ArkType) gives the type of its output, and takes
 * payloads that it leaves as they are: it fills in and converts nothing. A class may have a constructor of its own: events that arrive are made without it.
 * @throws {FMOD_CORE_INVALID_EVENT} the type is empty, or the schema uses the reserved member `eventId`
 */
export function defineEvent<S extends TObject>(type: string, schema: S): DefinedEvent<Static<S>>
export function defineEvent<S extends StandardSchema<object>>(
  type: string,
  schema: S,
): DefinedEvent<StandardOutput<S> & object>
export function defineEvent<Payload extends object = Readonly<Record<string, unknown>>>(
  type: string,
  schema: object,
): DefinedEvent<Payload>
export function defineEvent(type: string, schema: object): DefinedEvent<object> {
  if (typeof type !== 'string' || type === '')
    throw new errorCodes.FMOD_CORE_INVALID_EVENT(String(type), 'its type is empty')
  if (usesEventId(schema))
    throw new errorCodes.FMOD_CORE_INVALID_EVENT(type, 'its schema uses the reserved member eventId')
  class Defined {
    static readonly type = type
    static readonly schema = schema
    declare readonly eventId: string

    constructor(payload: object = {}, eventId: string = randomUUID()) {
      fill(this, payload, eventId)
    }
  }
  uncompiled.add(Defined)
  return Defined
}

/** Makes an event of an object of its class. */
function fill(event: object, payload: object, eventId: string): void {
  // Assigned from parsed JSON, it would make this an instance of something else.
  if (Object.hasOwn(payload, '__proto__'))
    throw new errorCodes.FMOD_CORE_INVALID_EVENT(
      eventTypeOf(event),
      'its payload has a member named __proto__',
    )
  // Not enumerable, so that an event serialises to its payload alone; nor taken from a payload that brings one.
  Object.defineProperty(Object.assign(event, payload), 'eventId', {
    value: eventId,
    enumerable: false,
    writable: false,
  })
  Object.freeze(event)
}

/** Whether a schema, or one that it is composed of, has a member `eventId`, which no payload carries. */
function usesEventId(schema: unknown): boolean {
  const parts = ['allOf', 'anyOf', 'oneOf'].map((name) => safeRead(schema, name))
  const required = safeRead(schema, 'required')
  return (
    safeRead(safeRead(schema, 'properties'), 'eventId') !== undefined ||
    (Array.isArray(required) && required.includes('eventId')) ||
    parts.some((part) => Array.isArray(part) && part.some(usesEventId))
  )
}

type Declaration = Pick<EventClass, 'type' | 'schema'>

/** Classes whose schema is not compiled. Their definition does not do it: importing a module does no work. */
const uncompiled = new Set<Declaration>()

/** The first rule that a payload breaks, and never the value: it may be a secret. */
type CheckPayload = (payload: unknown) => string | undefined

/** By schema, which a class shares with those that extend it. */
const checks = new WeakMap<object, CheckPayload>()

/**
 * Compiles schemas: those of all classes that are defined, so that a wrong one stops every boot and no publisher.
 * @throws {FMOD_CORE_INVALID_EVENT} with all schemas that Ajv refuses
 */
export function compileEvents(declarations: Iterable<Declaration> = uncompiled): void {
  const refused: { readonly type: string; readonly cause: unknown }[] = []
  for (const declaration of declarations) {
    const { type, schema } = declaration
    try {
      if (!checks.has(schema))
        checks.set(schema, isStandardSchema(schema) ? checkByValidator(schema) : checkByAjv(schema))
      uncompiled.delete(declaration)
    } catch (cause) {
      refused.push({ type, cause })
    }
  }
  if (refused.length === 0) return
  const types = refused.map(({ type }) => type).join('", "')
  const reasons = refused.map(({ cause }) => failureText(cause)).join('; ')
  const error = new errorCodes.FMOD_CORE_INVALID_EVENT(types, `Ajv refuses its schema: ${reasons}`)
  throw Object.assign(error, { cause: refused[0]?.cause })
}

/** The class of an event, or undefined if the value is not an event. */
export function eventClassOf(event: unknown): EventClass | undefined {
  if (typeof event !== 'object' || event === null) return undefined
  const prototype: unknown = Object.getPrototypeOf(event) // the event's own members may be called anything
  const made = (prototype as { constructor?: unknown } | null)?.constructor
  return isEventClass(made) ? made : undefined
}

/** The type of an event that a class of `defineEvent` made, which the bus has checked. */
export function eventTypeOf(event: object): string {
  return (Object.getPrototypeOf(event) as { readonly constructor: EventClass }).constructor.type
}

/** Whether a value is a class from `defineEvent`. */
export function isEventClass(value: unknown): value is EventClass {
  return typeof value === 'function' && 'type' in value && 'schema' in value
}

/** The event classes that one application knows. */
export class EventClasses {
  readonly #byType = new Map<string, EventClass>()

  /**
   * @throws {FMOD_CORE_DUPLICATE_EVENT_TYPE} another class has this type
   * @throws {FMOD_CORE_INVALID_EVENT} the class has toJSON, or Ajv refuses its schema
   */
  add(eventClass: EventClass): void {
    const known = this.#byType.get(eventClass.type)
    if (known === eventClass) return
    if (known) throw new errorCodes.FMOD_CORE_DUPLICATE_EVENT_TYPE(eventClass.type)
    if ('toJSON' in (eventClass.prototype as object))
      throw new errorCodes.FMOD_CORE_INVALID_EVENT(
        eventClass.type,
        'its class has toJSON, and an event is its payload',
      )
    compileEvents([eventClass])
    this.#byType.set(eventClass.type, eventClass)
  }

  /**
   * Adds the class of an event and checks the payload; returns the type.
   * @throws {FMOD_CORE_INVALID_EVENT} not an event, its payload does not fit the schema, or JSON cannot carry it
   * @throws {FMOD_CORE_DUPLICATE_EVENT_TYPE} another class has this type
   */
  accept(event: unknown): string {
    const eventClass = eventClassOf(event)
    if (!eventClass)
      throw new errorCodes.FMOD_CORE_INVALID_EVENT(
        typeof event,
        'it was not made by a class from defineEvent',
      )
    this.add(eventClass)
    checkPayload(eventClass, event)
    if (!hasJsonMembers(event as object, 0))
      throw new errorCodes.FMOD_CORE_INVALID_EVENT(
        eventClass.type,
        'its payload has a value that JSON does not have',
      )
    return eventClass.type
  }

  /** Makes a stored event again. @throws {FMOD_CORE_INVALID_EVENT} unknown type or invalid payload */
  revive(type: string, eventId: string, payload: unknown): DomainEvent {
    const known = this.#byType.get(type)
    if (!known) throw new errorCodes.FMOD_CORE_INVALID_EVENT(type, 'no class of this type is known here')
    checkPayload(known, payload)
    const event = Object.create(known.prototype) as DomainEvent
    fill(event, payload as object, eventId)
    return event
  }
}

/** @throws {Error} Ajv refuses the schema */
function checkByAjv(schema: object): CheckPayload {
  const errorsOf = compileSchemaErrors(schema)
  return (payload) => {
    const [first] = errorsOf(payload)
    return first && `${first.instancePath || 'the payload'}: ${first.message ?? 'invalid'}`
  }
}

/** Payloads are the validator's output already, which is what their type says. */
function checkByValidator(schema: StandardSchema): CheckPayload {
  return (payload) => {
    if (typeof payload === 'object' && payload !== null && !hasJsonMembers(payload, 0)) return undefined
    const given: unknown = JSON.parse(JSON.stringify(payload))
    const made = validateStandard(schema, structuredClone(given), toPlain)
    if ('failure' in made) return made.failure
    if ('issues' in made) return `${made.issues[0]?.pointer || 'the payload'}: This value does not fit`
    return isDeepStrictEqual(made.value, given) ? undefined : 'its schema makes another value of it'
  }
}

/** A copy whose objects have the ordinary prototype, which validators leave out; undefined for what is not JSON. */
function toPlain(value: unknown): unknown {
  const isPlain = typeof value === 'object' && value !== null && hasJsonMembers(value, 0)
  return isPlain ? JSON.parse(JSON.stringify(value)) : undefined
}

function checkPayload({ type, schema }: EventClass, payload: unknown): void {
  const problem = checks.get(schema)?.(payload)
  if (problem) throw new errorCodes.FMOD_CORE_INVALID_EVENT(type, problem)
}

/** Deeper values are refused; one that contains itself has no end. */
const maxDepth = 100

/** Whether JSON carries all members of an object as they are; those that are undefined it leaves out. */
function hasJsonMembers(value: object, depth: number): boolean {
  // 40 ns for three members; by Object.values and every 150.
  for (const name in value) {
    const member: unknown = value[name as keyof typeof value]
    if (member !== undefined && !isJson(member, depth)) return false
  }
  return true
}

function isJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || depth > maxDepth) return false
  // A copy has undefined for holes, which `every` passes over.
  if (Array.isArray(value)) return [...(value as unknown[])].every((item) => isJson(item, depth + 1))
  return isRecord(value) && hasJsonMembers(value, depth + 1)
}

/** Not a `Date`, `Map` or other object whose content is not its members. A member `toJSON` that is data is one of them. */
function isRecord(value: object): boolean {
  const isPlain = Object.prototype.toString.call(value) === '[object Object]'
  return isPlain && typeof Reflect.get(value, 'toJSON') !== 'function'
}
