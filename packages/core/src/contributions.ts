/**
 * Where modules meet the plugins of an application, so that neither imports the other: a plugin calls `receiveContributions`
 * when it registers, the modules plugin `deliverContributions` once; then plugins learn which module is being mounted.
 */
import type { FastifyInstance } from 'fastify'
import { closestName } from './internal/closest-name.ts'
import { getDecorator } from './internal/decorators.ts'
import type { Mounting } from './internal/mounting.ts'
import { contributions } from './symbols.ts'
import { errorCodes } from './misuse-errors.ts'

/**
 * What modules may contribute to plugins. Empty here: each plugin adds its hook by declaration merging
 * (`interface ModuleContributions { settings: (builder: SettingsBuilder) => void }`), so core knows none of them.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- merged into by the plugins that receive
export interface ModuleContributions {}

/** What a plugin does with contributions. */
export interface Receiver<T> {
  /** Called once for each module that has the hook, in dependency order. */
  take(contribution: T, module: string): void | Promise<void>
  /** Called once after the last contribution, before any module body mounts: the place to report what is wrong with them. */
  complete?(): void | Promise<void>
}

/** What one module contributes to one hook. */
export interface Contribution {
  readonly module: string
  readonly hook: string
  readonly value: unknown
}

interface MeetingPoint extends Mounting {
  delivered: boolean
  readonly receivers: Map<string, Receiver<unknown>>
}

/**
 * Registers the one receiver of a module hook. Call it while a plugin registers, before the modules plugin.
 * @throws {FMOD_CORE_DUPLICATE_RECEIVER} the hook has a receiver already
 * @throws {FMOD_CORE_RECEIVER_REGISTERED_LATE} the contributions are delivered, and the receiver would get none
 */
export function receiveContributions<K extends keyof ModuleContributions & string>(
  app: FastifyInstance,
  hook: K,
  receiver: Receiver<ModuleContributions[K]>,
): void {
  const { receivers, delivered } = meetingPointOf(app)
  if (delivered) throw new errorCodes.FMOD_CORE_RECEIVER_REGISTERED_LATE(hook)
  if (receivers.has(hook)) throw new errorCodes.FMOD_CORE_DUPLICATE_RECEIVER(hook)
  receivers.set(hook, receiver)
}

/**
 * The modules plugin begins with it, before it registers the events plugin, which receives.
 * @throws {FMOD_CORE_REGISTERED_TWICE} the contributions of this scope, or of one above, are delivered
 */
export function refuseSecondDelivery(app: FastifyInstance): void {
  if (meetingPointOf(app).delivered)
    throw new errorCodes.FMOD_CORE_REGISTERED_TWICE('modules', 'Pass all modules to one registration.')
}

/**
 * Passes each contribution to the receiver of its hook, then completes every receiver.
 * Where a hook has no receiver, the message may suggest one of `otherMembers`, too: a misspelt `dependsOn` looks like a
 * contribution.
 */
export async function deliverContributions(
  app: FastifyInstance,
  given: readonly Contribution[],
  otherMembers: Iterable<string>,
): Promise<void> {
  const point = meetingPointOf(app)
  point.delivered = true

  const { receivers } = point
  const unreceived = given.filter(({ hook }) => !receivers.has(hook))
  if (unreceived.length > 0) {
    const names = [...receivers.keys(), ...otherMembers]
    throw new errorCodes.FMOD_CORE_CONTRIBUTION_WITHOUT_PLUGIN(
      unreceived
        .map(({ module, hook }) => `module "${module}" contributes "${hook}"${suggestion(hook, names)}`)
        .join(', '),
    )
  }
  for (const { hook, value, module } of given) await receivers.get(hook)?.take(value, module)
  for (const receiver of receivers.values()) await receiver.complete?.()
}

function suggestion(hook: string, names: readonly string[]): string {
  const meant = closestName(hook, names)
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`
}

/** Runs `mount`, during which `mountingModule` names the module. */
export async function whileMounting(
  app: FastifyInstance,
  module: string,
  mount: () => PromiseLike<unknown>,
): Promise<void> {
  const point = meetingPointOf(app)
  point.mounting = module
  try {
    await mount()
  } finally {
    point.mounting = undefined
  }
}

/** It belongs to the scope of the first plugin that needs it, and to the scopes below. */
function meetingPointOf(app: FastifyInstance): MeetingPoint {
  if (!app.hasDecorator(contributions)) {
    const point: MeetingPoint = { delivered: false, mounting: undefined, receivers: new Map() }
    app.decorate(contributions, point)
  }
  return getDecorator<MeetingPoint>(app, contributions)
}
