/** Finds event handlers by naming convention (S 6.3): a name ending in Handler or Consumer, a method handle or consume. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { FMOD_CORE_INVALID_HANDLER } from '../misuse-errors.ts'
import { type DomainEvent, type EventClass, isEventClass } from './event.ts'

/** A class that handles one kind of event; made once, without arguments. */
export interface HandlerClass {
  new (): object
  readonly event: EventClass
}

/** Where handlers come from: a list of classes or instances, a namespace import, or the URL of a folder. */
export type HandlerSource = readonly (HandlerClass | object)[] | Readonly<Record<string, unknown>> | URL

/** One discovered handler, ready to be called. */
export interface EventHandler {
  /** `<module>.<class name>`: stable, names the handler's own queue in durable transports. */
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
const handlerFile = /(?:handler|consumer)\.(?:js|mjs|ts)$/i

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
    const name = nameOf(candidate)
    if (!handlerName.test(name)) {
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

type Method = (event: DomainEvent, signal: AbortSignal) => unknown

interface Candidate {
  handle?: Method
  consume?: Method
}

function toHandler(name: string, made: Candidate, candidate: unknown): EventHandler {
  const method = (made.handle ?? made.consume) as Method
  return {
    name,
    event: eventOf(made, candidate) as EventClass,
    handle: (event, signal) => method.call(made, event, signal),
  }
}

function problemOf(made: object, candidate: unknown): string | undefined {
  const { handle, consume } = made as Candidate
  if (typeof handle !== 'function' && typeof consume !== 'function') {
    return 'needs a method handle(event, signal) or consume(event, signal)'
  }
  if (handle && consume) return 'has both handle and consume; keep one'
  const event = eventOf(made, candidate)
  if (!event) return 'needs a static member "event" with the event class it handles'
  return undefined
}

function eventOf(made: object, candidate: unknown): EventClass | undefined {
  const event = (candidate as { event?: unknown }).event ?? (made.constructor as { event?: unknown }).event
  return isEventClass(event) ? event : undefined
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
    exported.push(...Object.values(module))
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
