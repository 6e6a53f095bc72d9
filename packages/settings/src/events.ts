/**
 * Notifications of changes: events on `app.events`, and the listeners of `settings.on` in this
 * process.
 */
import { EventEmitter } from 'node:events'
import { defineEvent, type DomainEvent, type Events } from '@fastify-modular/core'
import type { AsyncTx } from '@fastify-modular/core/events/durable'
import { getDecorator, hasOwnDecorator, mayBeUnhandled } from '@fastify-modular/core/internal'
import { Type } from '@sinclair/typebox'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Registry } from './definitions/registry.ts'
import { keyOf, type SettingReference } from './definitions/tokens.ts'
import type {
  EffectiveChange,
  SettingSource,
  SettingState,
  SharedChange,
  SharedValues,
} from './memory/shared-values.ts'
import { errorCodes } from './misuse-errors.ts'
import { type JsonValue, SettingScope } from './setting-definition.ts'
import type { AppliedChange, StorePort, StoredRow, WriteRequest, WriteResult } from './store/store.ts'
import { readText } from './values/json.ts'

const Nullable = Type.Union([Type.String(), Type.Null()])
const identity = {
  key: Type.String(),
  /** 0 System, 1 Application, 2 User. */
  scope: Type.Integer(),
  userId: Nullable,
  /** Of Tenant scope alone: whose value it is. */
  tenant: Type.Optional(Nullable),
  changedBy: Nullable,
  /** ISO 8601, UTC. */
  at: Type.String(),
  /** Of the value: rises with each change of it, so that consumers can tell which of two events is the newer one. */
  version: Type.Integer(),
}

/** A value was stored. `oldValue` is null where none was stored before; both are null for sensitive settings. */
export class SettingChanged extends defineEvent(
  'settings.changed',
  Type.Object({ ...identity, oldValue: Type.Unknown(), newValue: Type.Unknown() }),
) {
  static readonly [mayBeUnhandled] = true
}

/** A stored value was removed: the inherited value holds again. */
export class SettingDeleted extends defineEvent('settings.deleted', Type.Object(identity)) {
  static readonly [mayBeUnhandled] = true
}

/** A change that had to be kept is settled. `reasons` says by key why it was not put back. */
export class SettingChangeSettled extends defineEvent(
  'settings.change-settled',
  Type.Object({
    revision: Type.Integer(),
    state: Type.String(),
    settledBy: Nullable,
    reasons: Type.Record(Type.String(), Type.String()),
  }),
) {
  static readonly [mayBeUnhandled] = true
}

/** Returns the function that finds the events of the application, which may have none. */
export function createFindEvents(app: FastifyInstance): () => Events | undefined {
  return () => (hasOwnDecorator(app, 'events') ? getDecorator<Events>(app, 'events') : undefined)
}

/** The events of one write. */
export interface Publication {
  /** Undefined unless the transport can be part of the transaction. */
  readonly enqueue?: WriteRequest['enqueue']
  /** Called after the commit. Never rejects: a write that is committed cannot fail any more. */
  committed(written: WriteResult): Promise<void>
}

/** What publishing works with. */
export interface PublisherInit {
  readonly registry: Pick<Registry, 'find'>
  readonly store: Pick<StorePort, 'info'>
  /** Called at each use: the application may not have events. */
  readonly events: () => Events | undefined
  readonly log: FastifyBaseLogger
}

/** Publishes what a write by the actor changes. */
export function beginPublication(init: PublisherInit, actor: string | null): Publication {
  const { registry, store, log } = init
  const bus = init.events()
  if (bus === undefined) return { committed: async () => {} }
  const eventsOf = ({ changes, at }: WriteResult): DomainEvent[] =>
    changes.map((change) => toEvent(change, at, { registry, changedBy: actor }))
  if (!canJoin(store, bus)) return { committed: (written) => publishAfterwards(bus, eventsOf(written), log) }
  const notices: (() => void)[] = []
  return {
    enqueue(tx, written) {
      notices.length = 0 // those of a try that was rolled back
      if (tx.kind === 'async') return publishWithin(bus, withNotices(tx, notices), eventsOf(written))
      for (const event of eventsOf(written)) bus.publish(event, { tx })
      return undefined
    },
    async committed() {
      for (const notify of notices) notify()
    },
  }
}

/** Whether the transport has the store's kind of transaction. */
function canJoin({ info: { transactional } }: Pick<StorePort, 'info'>, bus: Events): boolean {
  return transactional !== false && bus.transactional === transactional
}

function toEvent(
  change: AppliedChange,
  at: number,
  { registry, changedBy }: Pick<PublisherInit, 'registry'> & { readonly changedBy: string | null },
): DomainEvent {
  const { key, scope, revision: version, before, after } = change
  const userId = scope === SettingScope.User ? change.owner : null
  const tenant = scope === SettingScope.Tenant && { tenant: change.owner }
  const payload = { key, scope, userId, ...tenant, changedBy, at: new Date(at).toISOString(), version }
  if (!after) return new SettingDeleted(payload)
  const isMasked = registry.find(key)?.definition.sensitive !== false
  // Encrypted values stay hidden even where the definition is not sensitive any more (decision 13).
  const show = (row: StoredRow | undefined): JsonValue =>
    isMasked || row === undefined || row.encrypted ? null : readText(row.value)
  return new SettingChanged({ ...payload, oldValue: show(before), newValue: show(after) })
}

async function publishAfterwards(
  bus: Events,
  published: readonly DomainEvent[],
  log: FastifyBaseLogger,
): Promise<void> {
  for (const event of published) {
    try {
      await bus.publish(event)
    } catch (err) {
      log.error({ err, event: event.constructor.name }, 'event of a committed change could not be published')
    }
  }
}

/** A transaction that collects the functions to call after its commit. */
function withNotices(tx: AsyncTx, notices: (() => void)[]): AsyncTx {
  const query: AsyncTx['query'] = (sql, params) => tx.query(sql, params)
  return { kind: 'async', query, afterCommit: (notify) => void notices.push(notify) }
}

async function publishWithin(bus: Events, tx: AsyncTx, published: readonly DomainEvent[]): Promise<void> {
  for (const event of published) await bus.publish(event, { tx })
}

/** How the store and the transport get one database. */
const sharing = {
  sync: 'one connection for sqlite({ database }) and sqliteOutbox({ database })',
  async: 'one pool for postgres({ pool }) and pgBoss({ pool })',
} as const

/**
 * Only for a transport of the store's kind.
 * @throws {FMOD_SETTINGS_FOREIGN_EVENTS} the store and the transport were not given one connection, pool or connection string
 */
export function refuseForeignEvents({
  store,
  events,
}: Pick<PublisherInit, 'events'> & { readonly store: StorePort }): void {
  const { name, transactional } = store.info
  const bus = events()
  if (transactional === false || !bus || !canJoin(store, bus) || bus.isOn(store.connection)) return
  throw new errorCodes.FMOD_SETTINGS_FOREIGN_EVENTS(name, sharing[transactional])
}

/** What changed beside the value. */
interface SettingChange<T = JsonValue> {
  readonly key: string
  readonly previous: T
  /** The definition's scope. */
  readonly scope: SettingScope
  readonly source: SettingSource
  readonly revision: number
  /** `local`: this process wrote it; `remote`: another one did. */
  readonly origin: EffectiveChange['origin']
}

/** Called after the commit, with the new value. What it throws is logged, and the other listeners are still called. */
export type SettingListener<T = JsonValue> = (value: T, change: SettingChange<T>) => void | Promise<void>

/** Stands for every key. */
const anyKey = '*'

interface ListenersInit {
  readonly sharedValues: Pick<SharedValues, 'require'>
  /** Reads every setting once. */
  readonly states: () => readonly SettingState[]
  readonly log: FastifyBaseLogger
}

export class Listeners {
  readonly #init: ListenersInit
  /** By the key, after a word: the event `error` has a meaning of its own. */
  readonly #emitter = new EventEmitter().setMaxListeners(0)

  constructor(init: ListenersInit) {
    this.#init = init
  }

  /** Returns the function that removes the listener. @throws {FMOD_SETTINGS_UNKNOWN_KEY} no module defines the key */
  on(reference: SettingReference, listener: SettingListener): () => void {
    const key = keyOf(reference)
    // A setting that was never read has no value to compare with.
    if (key === anyKey) this.#init.states()
    else this.#init.sharedValues.require(key)
    const call = (value: JsonValue, change: SettingChange): void => this.#call(listener, value, change)
    this.#emitter.on(`setting ${key}`, call)
    return () => void this.#emitter.off(`setting ${key}`, call)
  }

  notify({ effective, revision }: SharedChange): void {
    if (this.#emitter.eventNames().length === 0) return
    for (const { state, previous, origin } of effective) {
      const { key, scope } = state.setting.definition
      const { value, source, error } = state.shared
      if (error) continue // there is no readable value
      const change = { key, previous: previous.value, scope, source, revision, origin }
      for (const name of [key, anyKey]) this.#emitter.emit(`setting ${name}`, value, change)
    }
  }

  #call(listener: SettingListener, value: JsonValue, change: SettingChange): void {
    const report = (err: unknown): void =>
      this.#init.log.error({ err, key: change.key }, 'settings listener failed')
    try {
      const result = listener(value, change)
      if (result instanceof Promise) result.catch(report)
    } catch (err) {
      report(err)
    }
  }
}
