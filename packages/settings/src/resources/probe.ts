/**
 * Tests a resource with values that are not saved. A secret that the request does not bring meets no other values than those
 * that are in force: a caller who may try hosts must not learn the password that is stored for one of them.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { ArgumentException, type Caller, NotFoundException } from '@fastify-modular/core'
import { safeRead } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import { SettingLockedException, SettingValidationException } from '../exceptions.ts'
import { type SettingState, sharedScope } from '../memory/shared-values.ts'
import type { Parts } from '../parts.ts'
import { type JsonValue, SettingType } from '../setting-definition.ts'
import { deepFreeze } from '../values/json.ts'
import { isSecret } from '../values/validate.ts'
import { requireUpdater, requireWritePermissions } from '../visibility.ts'
import type { WriteOptions } from '../write/write.ts'
import { type Hide, hiding, toFailure } from './failure.ts'
import { ProbeLimits } from './probe-limits.ts'
import { callWithin, disposeOf, type FollowingResource, type Snapshot } from './resource.ts'
import type { Resources } from './resources.ts'

const brand = Symbol.for('@fastify-modular/settings/probe-failure')

/** Thrown by `create` or `probe` of a resource: its message, at most 200 characters of it, reaches the caller who tests. */
export class ProbeFailure extends Error {
  readonly [brand] = true
  override readonly name = 'ProbeFailure'
}

/** Values by key that are tried in place of those that hold; null for what would hold after clearing. */
type Drafts = Readonly<Record<string, JsonValue>>

/** Who tests what, and how the log names the request. */
interface ProbeRequest {
  readonly caller: Caller
  readonly drafts: Drafts
  readonly options: WriteOptions
  readonly log: FastifyBaseLogger
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** What a test found. */
interface ProbeResult {
  readonly ok: boolean
  /** What the resource says to the caller; null where it says nothing. */
  readonly message: string | null
}

/** One setting of the resource with the value to try. */
interface Tried {
  readonly member: string
  readonly state: SettingState
  readonly value: JsonValue
  readonly isSecret: boolean
  /** Whether the request brings the value, or there is none. */
  readonly isBrought: boolean
  /** Whether it is another value than the one in force. A secret is never compared: that would tell who guesses. */
  readonly isOther: boolean
}

/** Milliseconds of a test, and until its answer at the earliest: how fast a host refuses says what it is. */
const time = { longest: 10_000, shortest: 300 }

export class Probes {
  readonly #parts: Parts
  readonly #resources: Resources
  readonly #limits = new ProbeLimits()

  constructor(parts: Parts, resources: Resources) {
    this.#parts = parts
    this.#resources = resources
  }

  /**
   * Makes the resource of what holds and the drafts, tests it, and disposes of it. Nothing is stored.
   * @throws {ForbiddenException} the caller may not write all of its settings
   * @throws {NotFoundException} there is no such resource, or it has no `probe`
   * @throws {ArgumentException} a draft is of another setting
   * @throws {SettingLockedException} the host locked a setting that has a draft
   * @throws {SettingValidationException} drafts break definitions or rules, or a secret would meet other values
   * @throws {TooManyRequestsException} the caller, or all callers together, test too much
   */
  async probe(name: string, request: ProbeRequest): Promise<ProbeResult> {
    const { caller, drafts, log, signal } = request
    requireUpdater(caller)
    const found = this.#resources.find(name)
    if (!found?.options.probe) throw new NotFoundException('Resource with a test', name)
    const states = this.#resources.statesOf(found)
    requireUpdater(caller, states.map(sharedScope))
    requireWritePermissions(
      caller,
      states.map(({ setting }) => setting.definition),
    )
    const accepted = await this.#validate(request, found, states)
    const tried = this.#triesOf(found, accepted)
    refuseWithheld(tried)
    const snapshot = {
      values: Object.fromEntries(tried.map(({ member, value }) => [member, value])),
      secrets: tried.filter((each) => each.isSecret).map(({ value }) => value),
    }
    const [result] = await this.#limits.run(caller.id, (controller) => {
      signal.addEventListener('abort', () => controller.abort(signal.reason))
      return Promise.all([test(found, snapshot, { controller, log }), pause(time.shortest)])
    })
    const secret = new Set(tried.filter((each) => each.isSecret).map(({ state }) => keyOf(state)))
    const shown = Object.fromEntries(Object.entries(drafts).filter(([key]) => !secret.has(key)))
    const audit = { audit: 'settings.probe', resource: name, caller: caller.id, drafts: shown, ok: result.ok }
    log.info(audit, 'a resource was tested')
    return result
  }

  /** Aborts the tests that run. */
  close(): void {
    this.#limits.close()
  }

  /** The drafts as they would be stored, after everything that a write of them would be refused for. */
  async #validate(
    { caller, drafts, options }: ProbeRequest,
    { name }: FollowingResource,
    states: readonly SettingState[],
  ): Promise<ReadonlyMap<string, JsonValue>> {
    const drafted = states.filter((state) => Object.hasOwn(drafts, keyOf(state)))
    const known = new Set(drafted.map(keyOf))
    const foreign = Object.keys(drafts).find((key) => !known.has(key))
    if (foreign !== undefined)
      throw new ArgumentException(`The resource "${name}" does not follow the setting "${foreign}".`, foreign)
    const locked = drafted.filter((state) => state.locked !== undefined)
    if (locked.length > 0) throw new SettingLockedException(locked.map(keyOf))
    const entries = drafted.map((state) => {
      const key = keyOf(state)
      return { state, key, scope: sharedScope(state), owner: '', value: drafts[key] ?? null }
    })
    const control = { caller, isBulk: true, dryRun: true }
    const outcome = await this.#parts.write(entries, options, control)
    return new Map(outcome.entries.map(({ entry }) => [entry.key, entry.value]))
  }

  /** The values to try, all of one moment: what is compared is what is used. */
  #triesOf({ keys }: FollowingResource, drafts: ReadonlyMap<string, JsonValue>): readonly Tried[] {
    return Array.from(keys, ([member, key]) => toTried(member, this.#parts.sharedValues.require(key), drafts))
  }
}

function toTried(member: string, state: SettingState, drafts: ReadonlyMap<string, JsonValue>): Tried {
  const { setting, shared } = state
  const draft = drafts.get(keyOf(state))
  const secret = isSecret(setting, shared)
  const cleared = draft === null ? setting.defaultValue : draft
  const value = cleared === undefined ? shared.value : deepFreeze(cleared)
  const isReadable = draft !== undefined || shared.error === undefined
  return {
    member,
    state,
    value,
    isSecret: secret,
    isBrought: isReadable && (value === null || (draft ?? null) !== null),
    isOther: !isReadable || (draft !== undefined && (secret || !isDeepStrictEqual(value, shared.value))),
  }
}

/** @throws {SettingValidationException} a secret that the request does not bring would meet other values, or is unreadable */
function refuseWithheld(tried: readonly Tried[]): void {
  const withheld = tried.filter(
    (each) => each.isSecret && !each.isBrought && tried.some((other) => other.isOther && other !== each),
  )
  const unreadable = tried.filter(({ state, isBrought }) => state.shared.error !== undefined && !isBrought)
  const errors = new Map<string, readonly string[]>()
  for (const { state } of withheld)
    errors.set(keyOf(state), [`Enter the ${nounOf(state)} again to test other values.`])
  for (const { state } of unreadable)
    errors.set(keyOf(state), [`Enter the ${nounOf(state)} again: it cannot be read.`])
  const [first] = errors
  if (first) throw new SettingValidationException(first[0], first[1], Object.fromEntries(errors))
}

/** Makes the resource, tests it, and disposes of it. Never rejects. */
async function test(
  { name, options }: FollowingResource,
  { values, secrets }: Snapshot,
  { controller, log }: { readonly controller: AbortController; readonly log: FastifyBaseLogger },
): Promise<ProbeResult> {
  const hide = hiding(secrets)
  const dispose = (resource: unknown): Promise<void> =>
    disposeOf(options, { resource, hide }, (failure) =>
      log.warn({ resource: name, failure }, 'a tested resource could not be disposed of'),
    )
  let made: { readonly resource: unknown } | undefined
  try {
    const said = await callWithin(time.longest, controller, {
      async call(signal) {
        const resource = await options.create(values, { signal })
        if (signal.aborted) {
          await dispose(resource)
          throw signal.reason
        }
        made = { resource }
        return options.probe?.(resource, { signal })
      },
    })
    return { ok: true, message: toSentence(said, hide) }
  } catch (error) {
    const failure = toFailure(error, hide)
    log.warn({ resource: name, failure }, 'a test of a resource failed')
    return { ok: false, message: safeRead(error, brand) === true ? failure.message : null }
  } finally {
    if (made) await dispose(made.resource)
  }
}

function toSentence(said: unknown, hide: Hide): string | null {
  return typeof said === 'string' && said !== '' ? hide(said) : null
}

function keyOf({ setting }: SettingState): string {
  return setting.definition.key
}

function nounOf({ setting }: SettingState): string {
  return setting.definition.type === SettingType.Password ? 'password' : 'secret'
}
