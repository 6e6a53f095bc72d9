/** Finds event handlers by naming convention (S 6.3): a name ending in Handler or Consumer, a method handle or consume. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { FMOD_CORE_INVALID_HANDLER } from '../misuse-errors.ts'
import { safeRead } from '../internal/safe.ts'
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

/** Where handlers come from: a list of classes or instances, a namespace import, or the URL of a folder. */
export type HandlerSource = readonly (HandlerClass | object)[] | Readonly<Record<string, unknown>> | URL

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
/** Every extension that Node runs; declarations (`.d.ts`) do not match. */
const handlerFile = /(?:handler|consumer)\.[cm]?[jt]s$/i
/** What a minifier makes of a class name. */
const shortName = /^.{1,2}$/

/**
 * The handlers of one module.
 * @throws {FMOD_CORE_INVALID_HANDLER} naming all classes that have the name of a handler but lack its method or its event;
 * or the source is none of the three
 */
export async function discoverHandlers(module: string, source: HandlerSource): Promise<EventHandler[]> {
  const listed = Array.isArray(source)
  const candidates: readonly unknown[] = listed ? source : await exportsOf(module, source)
  const problems: string[] = []
  const handlers: EventHandler[] = []
  for (const candidate of candidates) {
    const className = nameOf(candidate)
    const name = idOf(candidate) ?? className
    if (!isMeantAsHandler(className, candidate)) {
      // A list means every member; a namespace may export helpers beside its handlers.
      if (listed) problems.push(`${module}: "${name}" must have a name that ends in Handler or Consumer`)
      continue
    }
    const made = instantiate(candidate)
    const problem = typeof made === 'string' ? made : problemOf(made, candidate)
    if (problem) problems.push(`${module}: ${name} ${problem}`)
    else handlers.push(toHandler(`${module}.${name}`, made as Candidate, candidate))
  }
  const twice = handlers.find(
    ({ name }, index) => handlers.findIndex((other) => other.name === name) !== index,
  )
  if (twice) problems.push(`${twice.name} is listed twice`)
  if (problems.length > 0) throw new FMOD_CORE_INVALID_HANDLER(problems.join('; '))
  return handlers
}

/** By its name; a class with an id, or one whose name a minifier has shortened, by its event. */
function isMeantAsHandler(className: string, candidate: unknown): boolean {
  if (handlerName.test(className)) return true
  return (shortName.test(className) || idOf(candidate) !== undefined) && eventOf(candidate) !== undefined
}

/** Handlers whose names look like a minifier's: the next build may give them to other classes, and their events with them. */
export function shortNamesOf(handlers: readonly EventHandler[]): readonly string[] {
  return handlers
    .map(({ name }) => name)
    .filter((name) => shortName.test(name.slice(name.lastIndexOf('.') + 1)))
}

type Method = (event: DomainEvent, signal: AbortSignal) => unknown

interface Candidate {
  handle?: Method
  consume?: Method
}

function toHandler(name: string, made: Candidate, candidate: unknown): EventHandler {
  const method = (made.handle ?? made.consume) as Method
  return {
    name,
    event: eventOf(candidate) as EventClass,
    handle: (event, signal) => method.call(made, event, signal),
  }
}

function problemOf(made: object, candidate: unknown): string | undefined {
  const { handle, consume } = made as Candidate
  if (typeof handle !== 'function' && typeof consume !== 'function') {
    return 'needs a method handle(event, signal) or consume(event, signal)'
  }
  if (handle && consume) return 'has both handle and consume; keep one'
  if (eventOf(candidate) === undefined) return 'needs a static member "event" with the event class it handles'
  const id = safeRead(classOf(candidate), 'id')
  if (id !== undefined && (typeof id !== 'string' || id === ''))
    return 'has a static member "id" that is not a text'
  return undefined
}

function eventOf(candidate: unknown): EventClass | undefined {
  const event = safeRead(candidate, 'event') ?? safeRead(classOf(candidate), 'event')
  return isEventClass(event) ? event : undefined
}

function idOf(candidate: unknown): string | undefined {
  const id = safeRead(classOf(candidate), 'id')
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** The class itself, or that of an instance. */
function classOf(candidate: unknown): unknown {
  return typeof candidate === 'function' ? candidate : safeRead(candidate, 'constructor')
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

function nameOf(candidate: unknown): string {
  if (typeof candidate === 'function') return candidate.name
  if (typeof candidate === 'object' && candidate !== null) return candidate.constructor?.name ?? 'Object'
  return String(candidate)
}

async function exportsOf(module: string, source: unknown): Promise<unknown[]> {
  if (!(source instanceof URL)) {
    if (isNamespace(source)) return withoutRepetition(Object.values(source))
    throw new FMOD_CORE_INVALID_HANDLER(
      `${module}: handlers is neither a list of classes nor a namespace import nor the URL of a folder`,
    )
  }
  const files = (await readdir(source, { recursive: true }))
    .filter((file) => handlerFile.test(file))
    .toSorted()
  const folder = fileURLToPath(source)
  const exported: unknown[] = []
  for (const file of files) {
    const module = (await import(pathToFileURL(join(folder, file)).href)) as Record<string, unknown>
    // All that a CommonJS file exports is its default export.
    const { default: main } = module
    exported.push(...Object.values(module), ...(isNamespace(main) ? Object.values(main) : []))
  }
  return withoutRepetition(exported)
}

/** A class, or an instance of one, was meant to stand in a list: its members are not handlers. */
function isNamespace(source: unknown): source is Readonly<Record<string, unknown>> {
  if (typeof source !== 'object' || source === null) return false
  const prototype: unknown = Object.getPrototypeOf(source)
  return prototype === null || prototype === Object.prototype
}

/** Classes and objects only, each once: a default export is often a named one, too. */
function withoutRepetition(values: unknown[]): unknown[] {
  return [...new Set(values)].filter(
    (value) => typeof value === 'function' || (typeof value === 'object' && value !== null),
  )
}
