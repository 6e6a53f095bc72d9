/** All resources of an application that follow settings. */
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from '../definitions/registry.ts'
import type { SettingMap } from '../definitions/tokens.ts'
import type { Changes } from '../memory/changes.ts'
import type { SettingState, SharedChange, SharedValues } from '../memory/shared-values.ts'
import { errorCodes } from '../misuse-errors.ts'
import { unwrap } from '../reading/reader.ts'
import { isSecret } from '../values/validate.ts'
import type { Visibility } from '../visibility.ts'
import { FollowingResource, type Resource, type ResourceOptions, type Snapshot } from './resource.ts'

interface ResourcesInit {
  readonly registry: Pick<Registry, 'isFrozen' | 'closest'>
  readonly sharedValues: SharedValues
  readonly changes: Changes
  readonly log: FastifyBaseLogger
}

const names = /^[A-Za-z0-9][\w.-]{0,99}$/

export class Resources {
  readonly #init: ResourcesInit
  readonly #byName = new Map<string, FollowingResource>()
  #isStarted = false

  constructor(init: ResourcesInit) {
    this.#init = init
    init.changes.follow({ shared: (change) => this.#follow(change) })
  }

  /**
   * Adds a resource.
   * @throws {FMOD_SETTINGS_INVALID_RESOURCE} the application is ready, or the name or the options cannot be used
   */
  add(
    name: string,
    tokens: SettingMap,
    options: ResourceOptions<Snapshot['values'], unknown>,
  ): Resource<unknown> {
    const { registry, log } = this.#init
    const refuse = (reason: string): never => {
      throw new errorCodes.FMOD_SETTINGS_INVALID_RESOURCE(String(name), reason)
    }
    if (registry.isFrozen) refuse('it was added after the application became ready')
    if (!names.test(name)) refuse('name it with letters, digits, dots, dashes and underscores')
    if (this.#byName.has(name)) refuse('there is another one of this name')
    if (typeof options?.create !== 'function') refuse('it needs the function create')
    const keys = new Map(Object.entries(tokens).map(([member, { key }]) => [member, key]))
    if (keys.size === 0) refuse('name the settings that it is made of')
    const read = (): Snapshot => this.#read(keys)
    const added = new FollowingResource({ name, keys, options, read, log })
    this.#byName.set(name, added)
    if (this.#isStarted) void this.#check(added).follow()
    return added
  }

  /** @throws {FMOD_SETTINGS_INVALID_RESOURCE} a setting does not exist, or may differ from caller to caller */
  check(): void {
    for (const added of this.all()) this.#check(added)
  }

  /**
   * Makes all of them for the first time, at once, within so many milliseconds.
   * @throws {FMOD_SETTINGS_INVALID_RESOURCE} as `check`
   * @throws {FMOD_SETTINGS_RESOURCE_MISSING} one that is `required` could not be made
   */
  async start(limit?: number): Promise<void> {
    this.check()
    this.#isStarted = true
    await Promise.all(this.all().map((resource) => resource.follow(limit)))
    for (const { name, options, status } of this.all()) {
      const { state, failure } = status
      if (options.required === true && state === 'missing')
        throw new errorCodes.FMOD_SETTINGS_RESOURCE_MISSING(name, failure?.message ?? 'it is not there')
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map((resource) => resource.close()))
  }

  all(): readonly FollowingResource[] {
    return [...this.#byName.values()]
  }

  find(name: string): FollowingResource | undefined {
    return this.#byName.get(name)
  }

  /** The name of the first resource with a test that a setting belongs to; null unless all of its settings may be written. */
  probeOf(key: string, mayWrite: Visibility['write']): string | null {
    const found = this.all().find(
      ({ keys, options }) => options.probe !== undefined && [...keys.values()].includes(key),
    )
    const isAllowed = found && this.statesOf(found).every(({ setting }) => mayWrite(setting.definition))
    return isAllowed ? found.name : null
  }

  /** The states of its settings, in their order. */
  statesOf({ keys }: Pick<FollowingResource, 'keys'>): readonly SettingState[] {
    return Array.from(keys.values(), (key) => this.#init.sharedValues.require(key))
  }

  /** Follows a change of shared values: one `create` for each, however many of its settings have changed. */
  #follow({ effective }: SharedChange): void {
    if (!this.#isStarted) return
    const changed = new Set(effective.map(({ state }) => state.setting.definition.key))
    for (const resource of this.all())
      if ([...resource.keys.values()].some((key) => changed.has(key))) void resource.follow()
  }

  /** The values that hold, all of one moment. */
  #read(keys: ReadonlyMap<string, string>): Snapshot {
    const { sharedValues } = this.#init
    const found = Array.from(keys, ([member, key]) => ({ member, state: sharedValues.require(key) }))
    const secret = found.filter(({ state }) => isSecret(state.setting, state.shared))
    return {
      values: Object.fromEntries(found.map(({ member, state }) => [member, unwrap(state.shared)])),
      secrets: secret.map(({ state }) => state.shared.value),
    }
  }

  #check(added: FollowingResource): FollowingResource {
    const { registry, sharedValues } = this.#init
    for (const key of added.keys.values()) {
      const setting = sharedValues.find(key)?.setting
      const closest = registry.closest(key)
      if (!setting)
        throw new errorCodes.FMOD_SETTINGS_INVALID_RESOURCE(
          added.name,
          `no module defines "${key}"${closest === undefined ? '' : `; did you mean "${closest}"?`}`,
        )
      if (setting.places.length > 1)
        throw new errorCodes.FMOD_SETTINGS_INVALID_RESOURCE(
          added.name,
          `"${key}" may differ from caller to caller: use System and Application settings`,
        )
    }
    return added
  }
}
