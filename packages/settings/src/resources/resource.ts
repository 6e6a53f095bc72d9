/** One resource that follows settings: made of their values, made again when they change, lent to its users. */
import { ServiceUnavailableException } from '@fastify-modular/core'
import { withTimeout } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import type { JsonValue } from '../setting-definition.ts'
import { type Hide, hiding, type ResourceFailure, toFailure } from './failure.ts'

/** What `create` and `probe` get beside the values. */
interface ResourceContext {
  /** Aborts when the call takes too long, when newer values hold, and when the application closes. */
  readonly signal: AbortSignal
}

/** How a resource is made of values `V`, released and tested. */
export interface ResourceOptions<V, R> {
  /** Makes the resource: a connection, a client. Values are deep-frozen. A result that comes too late is disposed of. */
  create(values: V, context: ResourceContext): R | Promise<R>
  /** Releases the resource, after the last `use` of it. */
  dispose?(resource: R): unknown
  /**
   * Tests a resource that was made of values which are not saved: returns a sentence for the caller, of at most 200 characters,
   * or throws. Only the text of a `ProbeFailure` reaches the caller. Without it the resource cannot be tested over HTTP.
   */
  probe?(resource: R, context: ResourceContext): string | void | Promise<string | void>
  /** Milliseconds that `create` may take; the first one, at boot, at most half of Fastify's `pluginTimeout`. @default 10000 */
  readonly timeout?: number
  /** Whether the boot fails where the first `create` fails. @default false */
  readonly required?: boolean
}

/** Whether the resource is what its settings say. */
export interface ResourceStatus {
  /** `ready`: made of the values that hold. `outdated`: made of earlier ones, which serve on. `missing`: there is none. */
  readonly state: 'ready' | 'outdated' | 'missing'
  /** Why the last `create` failed; null where it succeeded. It is tried again, after 1 s at first, 60 s at last. */
  readonly failure: ResourceFailure | null
}

/** A resource that follows settings. */
export interface Resource<R> {
  /**
   * Calls the function with the resource, which is not disposed of before the function is done, or 30 s after a newer one
   * has replaced it. Waits for the very first `create`.
   * @throws {ServiceUnavailableException} there is none
   */
  use<T>(task: (resource: R) => T | Promise<T>): Promise<T>
  readonly status: ResourceStatus
}

/** The values of one moment, and those of them that nobody may see. */
export interface Snapshot {
  readonly values: Readonly<Record<string, JsonValue>>
  readonly secrets: readonly JsonValue[]
}

interface ResourceInit {
  readonly name: string
  /** The keys of its settings by the names that `create` knows them by. */
  readonly keys: ReadonlyMap<string, string>
  readonly options: ResourceOptions<Snapshot['values'], unknown>
  /** The values that hold. @throws {FMOD_SETTINGS_UNREADABLE} one of them cannot be decrypted */
  readonly read: () => Snapshot
  readonly log: FastifyBaseLogger
}

/** A resource that was made, and who uses it. */
interface Held {
  readonly resource: unknown
  readonly hide: Hide
  readonly uses: Set<Promise<unknown>>
}

/** Milliseconds until a failed `create` is repeated: doubled from the first to the last. */
const pauses = { first: 1000, last: 60_000 }
/** Milliseconds that uses of a replaced resource, or its disposal, may take: before the application closes, and then. */
const patience = { open: 30_000, closing: 5000 }

const defaultTimeout = 10_000

export class FollowingResource implements Resource<unknown> {
  readonly name: string
  readonly keys: ResourceInit['keys']
  readonly options: ResourceInit['options']
  readonly #init: Pick<ResourceInit, 'read' | 'log'>
  #held: Held | undefined
  #failure: ResourceFailure | null = null
  /** Whether values hold that no `create` was called with, and whether the resource was made of those that hold. */
  #isWanted = false
  #isCurrent = false
  /** The running `create`. */
  #attempt: AbortController | undefined
  /** While values are followed. */
  #following: Promise<void> | undefined
  /** Whether the first `create` has succeeded or failed: until then `use` waits. */
  #isSettled = false
  #pause = pauses.first
  #retry: NodeJS.Timeout | undefined
  #isClosed = false
  readonly #retiring = new Set<Promise<void>>()
  readonly #closing: Promise<void>
  #endPatience: () => void = () => {}

  constructor({ name, keys, options, ...init }: ResourceInit) {
    this.name = name
    this.keys = keys
    this.options = options
    this.#init = init
    this.#closing = new Promise((resolve) => {
      this.#endPatience = resolve
    })
  }

  get status(): ResourceStatus {
    const state = this.#isCurrent ? 'ready' : 'outdated'
    return { state: this.#held ? state : 'missing', failure: this.#failure }
  }

  async use<T>(task: (resource: unknown) => T | Promise<T>): Promise<T> {
    if (!this.#isSettled) await this.#following
    const held = this.#held
    if (!held) throw new ServiceUnavailableException(`The resource "${this.name}" is not there.`)
    const use = (async () => task(held.resource))()
    held.uses.add(use)
    try {
      return await use
    } finally {
      held.uses.delete(use)
    }
  }

  /** Makes the resource of the values that hold now. One at a time: only the newest values count. Never rejects. */
  follow(limit?: number): Promise<void> {
    this.#attempt?.abort(new Error('Newer values hold.'))
    this.#pause = pauses.first
    return this.#makeAgain(limit)
  }

  /** Lets uses end, and disposes of everything. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    this.#attempt?.abort(new Error('The application closes.'))
    const timer = setTimeout(this.#endPatience, patience.closing)
    this.#retire(this.#held)
    this.#held = undefined
    await this.#within(this.#following)
    await Promise.all(this.#retiring)
    clearTimeout(timer)
  }

  #makeAgain(limit?: number): Promise<void> {
    clearTimeout(this.#retry)
    this.#isWanted = true
    this.#isCurrent = false
    this.#following ??= this.#run(limit)
    return this.#following
  }

  async #run(limit = Infinity): Promise<void> {
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false
      await this.#make(Math.min(limit, this.options.timeout ?? defaultTimeout))
    }
    this.#isSettled = true
    this.#following = undefined
  }

  async #make(timeout: number): Promise<void> {
    const { name, options } = this
    const { read, log } = this.#init
    const isPassed = (): boolean => this.#isClosed || this.#isWanted
    let hide = hiding([])
    this.#attempt = new AbortController()
    try {
      const { values, secrets } = read()
      hide = hiding(secrets)
      const resource = await callWithin(timeout, this.#attempt, {
        call: (signal) => options.create(values, { signal }),
        disposeLate: (late) => this.#retire({ resource: late, hide, uses: new Set() }),
      })
      const made = { resource, hide, uses: new Set<Promise<unknown>>() }
      if (isPassed()) return this.#retire(made)
      if (this.#failure) log.info({ resource: name }, 'resource is there again')
      this.#retire(this.#held)
      this.#held = made
      this.#isCurrent = true
      this.#failure = null
    } catch (error) {
      if (isPassed()) return
      this.#failure = toFailure(error, hide)
      log.error({ resource: name, failure: this.#failure }, 'resource could not be made of its settings')
      this.#retry = setTimeout(() => void this.#makeAgain(), this.#pause).unref()
      this.#pause = Math.min(this.#pause * 2, pauses.last)
    } finally {
      this.#attempt = undefined
    }
  }

  /** Disposes of a resource when its last use ends. */
  #retire(held: Held | undefined): void {
    if (!held) return
    const retiring = this.#dispose(held).finally(() => this.#retiring.delete(retiring))
    this.#retiring.add(retiring)
  }

  async #dispose(held: Held): Promise<void> {
    const { name } = this
    if (held.uses.size > 0) await this.#within(Promise.allSettled(held.uses))
    await disposeOf(this.options, held, (failure) =>
      this.#init.log.warn({ resource: name, failure }, 'resource could not be disposed of'),
    )
  }

  /** Waits for the work, as long as patience lasts. */
  async #within(work: Promise<unknown> | undefined): Promise<void> {
    await withTimeout(Promise.race([work, this.#closing]), patience.open, () => {}, { ref: false })
  }
}

/** Disposes of a resource. Never rejects, and waits at most 5 s. */
export async function disposeOf(
  options: Pick<ResourceInit['options'], 'dispose'>,
  { resource, hide }: Pick<Held, 'resource' | 'hide'>,
  report: (failure: ResourceFailure) => void,
): Promise<void> {
  const disposing = (async () => void (await options.dispose?.(resource)))()
  const reported = disposing.catch((error: unknown) => report(toFailure(error, hide)))
  await withTimeout(reported, patience.closing, () => {})
}

/**
 * Settles like the call, or when its time is over, which its signal says.
 * @throws {Error} it took too long
 */
export async function callWithin<T>(
  timeout: number,
  controller: AbortController,
  { call, disposeLate }: { call(signal: AbortSignal): T | Promise<T>; disposeLate?(late: T): void },
): Promise<T> {
  const calling = (async () => call(controller.signal))()
  return withTimeout(calling, timeout, () => {
    const error = new Error(`It took longer than ${timeout} ms.`)
    controller.abort(error)
    calling.then(disposeLate, () => {})
    throw error
  })
}
