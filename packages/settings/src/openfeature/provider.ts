/** A provider for `@openfeature/server-sdk`, by its shape alone: applications without that package install nothing. */
import { EventEmitter } from 'node:events'
import { isDomainException } from '@fastify-modular/core'
import type { Settings } from '../settings.ts'
import { evaluate, flagParts, reasons } from './evaluate.ts'

/** The `Provider` of `@openfeature/server-sdk` 1. */
export interface OpenFeatureSettings {
  readonly metadata: { readonly name: string }
  readonly runsOn: 'server'
  readonly events: ProviderEvents
  initialize(): Promise<void>
  onClose(): Promise<void>
  readonly resolveBooleanEvaluation: Resolve<boolean>
  readonly resolveStringEvaluation: Resolve<string>
  readonly resolveNumberEvaluation: Resolve<number>
  resolveObjectEvaluation<T>(...evaluated: Parameters<Resolve<T>>): ReturnType<Resolve<T>>
}

/** Evaluates a flag. `targetingKey` is the user whose values count. */
type Resolve<T> = (
  key: string,
  fallback: T,
  context: { readonly targetingKey?: string; readonly tenant?: unknown },
) => Promise<{ value: T; reason: 'STATIC' | 'TARGETING_MATCH' | 'DEFAULT' }>

/**
 * The settings with `flag: true` for OpenFeature: `OpenFeature.setProviderAndWait(openFeatureProvider(app))`. The flags of a
 * user are those of the context's `targetingKey`, in its `tenant`; both are trusted; where it is absent or empty, and of other scopes, they
 * are the shared ones. A change of a shared value is the event `PROVIDER_CONFIGURATION_CHANGED`; users' own changes are no
 * events.
 */
export function openFeatureProvider({ settings }: { readonly settings: Settings }): OpenFeatureSettings {
  const parts = flagParts(settings)
  const events = new ProviderEvents().setMaxListeners(0) // each client of the SDK adds its own
  let unsubscribe: (() => void) | undefined

  /** For flags of one type. What is thrown becomes the error code of the evaluation. */
  function resolveAs<T>(type: string): Resolve<T> {
    return async (key, _fallback, { targetingKey, tenant }) => {
      const flag = await evaluate(parts, key, targetingKey, tenantOf(tenant)).catch(refuse)
      if (!flag) throw new FlagError('FLAG_NOT_FOUND', `There is no flag "${key}".`)
      if (flag.error) refuse(flag.error)
      const value: unknown = flag.value
      if (typeof value !== type)
        throw new FlagError('TYPE_MISMATCH', `The flag "${key}" is not of type ${type}.`)
      return { value: value as T, reason: reasons[flag.source] } // the type was checked
    }
  }

  return {
    metadata: { name: '@fastify-modular/settings' },
    runsOn: 'server',
    events,
    async initialize() {
      unsubscribe?.()
      unsubscribe = settings.on('*', (_value, { key }) => {
        if (settings.definitions.getDefinition(key)?.flag)
          events.emit('PROVIDER_CONFIGURATION_CHANGED', { flagsChanged: [key] })
      })
    },
    async onClose() {
      unsubscribe?.()
    },
    resolveBooleanEvaluation: resolveAs('boolean'),
    resolveStringEvaluation: resolveAs('string'),
    resolveNumberEvaluation: resolveAs('number'),
    resolveObjectEvaluation: (key, fallback, context) =>
      resolveAs<typeof fallback>('object')(key, fallback, context),
  }
}

/** The tenant that a context names: a text; anything else is of other providers. */
function tenantOf(named: unknown): string | undefined {
  return typeof named === 'string' && named !== '' ? named : undefined
}

function refuse(cause: unknown): never {
  const isContext = isDomainException(cause) && cause.code === 'ARGUMENT' // there can be no such user
  throw isContext
    ? new FlagError('INVALID_CONTEXT', cause.message)
    : new FlagError('GENERAL', 'The flag cannot be read.', { cause })
}

/** Why a flag has no value; the SDK answers with the caller's fallback, the code and the message. */
class FlagError extends Error {
  readonly code: string

  constructor(errorCode: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = errorCode
  }
}

/** The event emitter that the SDK asks of providers: that of Node by other names. */
class ProviderEvents extends EventEmitter {
  addHandler(type: string, handler: (details?: never) => unknown): void {
    this.on(type, handler)
  }

  removeHandler(type: string, handler: (details?: never) => unknown): void {
    this.off(type, handler)
  }

  removeAllHandlers(...type: [type?: string]): void {
    this.removeAllListeners(...type)
  }

  getHandlers(type: string): (() => unknown)[] {
    return this.listeners(type) as (() => unknown)[] // only `addHandler` adds any
  }

  /** What a handler throws is in the log of the settings. */
  setLogger(): this {
    return this
  }
}
