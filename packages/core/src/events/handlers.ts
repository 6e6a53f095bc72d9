/** Finds event handlers by naming convention (S 6.3): a name ending in Handler or Consumer, a method handle or consume. */
import type { FastifyBaseLogger } from 'fastify'
import { isPlainObject, safeRead, safeText } from '../internal/safe.ts'
import { errorCodes } from '../misuse-errors.ts'
import { type DomainEvent, type EventClass, isEventClass } from './event.ts'

/** A class that handles one kind of event; made once, without arguments. */
export interface HandlerClass {
  new (): object
  readonly event: EventClass
  /**
   * Names the handler in place of the class name, for durable transports: unique in its module, and never changed. A
   * bundler that shortens class names changes those.
   */
  readonly id?: string
}

/** Where handlers come from: a list of classes or instances, or a namespace import. */
export type HandlerSource = readonly (HandlerClass | object)[] | Readonly<Record<string, unknown>>

/** One discovered handler, ready to be called. */
export interface EventHandler {
  /** `<module>.<id, or else class name>`: names the handler's own queue in durable transports. */
  readonly name: string
  readonly event: EventClass
  readonly handle: (event: DomainEvent, signal: AbortSignal, delivery: Delivery) => unknown
}

/** What a transport knows about one attempt to deliver an event. */
export interface Delivery {
  /** The first attempt is 1. */
  readonly attempt: number
  /** As it was published, where the publisher had one. */
  readonly traceparent?: string | undefined
}

const handlerName = /(?:Handler|Consumer)$/
/** What a minifier makes of a class name. */
const shortName = /^.{1,2}$/

/**
 * The handlers of one module. Logs a warning with those whose names look like a minifier's: the next build may give them to
 * other classes, and their events with them.
 * @throws {FMOD_CORE_INVALID_HANDLER} naming all classes that have the name of a handler but lack its method or its event;
 * or the source is neither
 */
export function discoverHandlers(
  module: string,
  source: HandlerSource,
  log: Pick<FastifyBaseLogger, 'warn'>,
): EventHandler[] {
  const isList = Array.isArray(source)
  const candidates: readonly unknown[] = isList ? source : exportsOf(module, source)
  const problems: string[] = []
  const handlers: EventHandler[] = []
  const shortened: string[] = []
  for (const candidate of candidates) {
    const declared = readClass(candidate)
    const { className, id } = declared
    if (!isMeantAsHandler(declared)) {
      // A list means every member; a namespace may export helpers beside its handlers.
      if (isList) problems.push(`${module}: "${className}" must have a name that ends in Handler or Consumer`)
      continue
    }
    const name = `${module}.${String(id ?? className)}`
    const made = makeHandler(name, candidate, declared)
    if (typeof made === 'string') problems.push(`${module}: ${className} ${made}`)
    else handlers.push(made)
    if (id === undefined && shortName.test(className)) shortened.push(name)
  }
  if (problems.length > 0) throw new errorCodes.FMOD_CORE_INVALID_HANDLER(problems.join('; '))
  if (shortened.length > 0)
    log.warn({ handlers: shortened }, 'event handlers have names that a minifier gave them: add a static id')
  return handlers
}

/** What the class of a candidate says, or the class that is one. */
interface Declared {
  readonly className: string
  readonly id: unknown
  readonly event: EventClass | undefined
}

function readClass(candidate: unknown): Declared {
  const type = typeof candidate === 'function' ? candidate : safeRead(candidate, 'constructor')
  const event = safeRead(type, 'event')
  return {
    className: safeText(type, 'name') ?? typeof candidate,
    id: safeRead(type, 'id'),
    event: isEventClass(event) ? event : undefined,
  }
}

/** By its name; a class with an id, or one whose name a minifier has shortened, by its event. */
function isMeantAsHandler({ className, id, event }: Declared): boolean {
  return (
    handlerName.test(className) || ((shortName.test(className) || id !== undefined) && event !== undefined)
  )
}

type Method = (event: DomainEvent, signal: AbortSignal) => unknown

/** The handler, or what is wrong with its class. */
function makeHandler(name: string, candidate: unknown, { id, event }: Declared): EventHandler | string {
  const made = instantiate(candidate)
  if (typeof made === 'string') return made
  const { handle, consume } = made as { readonly handle?: Method; readonly consume?: Method }
  const method = handle ?? consume
  if (typeof method !== 'function') return 'needs a method handle(event, signal) or consume(event, signal)'
  if (handle && consume) return 'has both handle and consume; keep one'
  if (event === undefined) return 'needs a static member "event" with the event class it handles'
  if (id !== undefined && (typeof id !== 'string' || id === ''))
    return 'has a static member "id" that is not a text'
  return { name, event, handle: (published, signal) => method.call(made, published, signal) }
}

/** The instance of a class, the value itself if it is an instance already, or the problem. */
function instantiate(candidate: unknown): object | string {
  if (typeof candidate !== 'function') return candidate as object
  try {
    return new (candidate as new () => object)()
  } catch (error) {
    return `cannot be made: ${error instanceof Error ? error.message : String(error)}`
  }
}

function exportsOf(module: string, source: unknown): unknown[] {
  // A class, or an instance of one, was meant to stand in a list: its members are not handlers.
  if (isPlainObject(source)) return [...new Set(Object.values(source))] // a default export is often a named one, too
  throw new errorCodes.FMOD_CORE_INVALID_HANDLER(
    `${module}: handlers is neither a list of classes nor a namespace import (import * as handlers from …)`,
  )
}
