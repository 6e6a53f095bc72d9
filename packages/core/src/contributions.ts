/**
 * The rendezvous where modules' contributions meet the plugins that want them, so that neither imports the other.
 * A plugin calls `receive` when it registers; the modules plugin calls `deliver` once.
 */
import type { FastifyInstance } from 'fastify'
import { closestName } from './internal/closest-name.ts'
import {
  FMOD_CORE_DUPLICATE_RECEIVER,
  FMOD_CORE_HOOK_WITHOUT_PLUGIN,
  FMOD_CORE_MODULES_REGISTERED_TWICE,
} from './misuse-errors.ts'
import { ownMembers, type ModuleCore, type ModuleHooks } from './module.ts'

/** Every hook with the type of its contribution; `handlers` is core's own. */
export interface Contributions extends ModuleHooks {
  handlers: NonNullable<ModuleCore['handlers']>
}

/** What a plugin does with contributions. */
export interface Receiver<T> {
  /** Called once for each module that has the hook, in dependency order. */
  take(contribution: T, module: string): void | Promise<void>
  /** Called once after the last contribution, before any module body mounts: the place to report what is wrong with them. */
  complete?(): void | Promise<void>
}

const rendezvous = Symbol.for('@fastify-modular/contributions')

interface Rendezvous {
  delivered: boolean
  readonly receivers: Map<string, Receiver<unknown>>
}

/**
 * Registers the one receiver of a module hook. Call it while a plugin registers, before the modules plugin.
 * @throws {FMOD_CORE_DUPLICATE_RECEIVER} the hook has a receiver already
 */
export function receive<K extends keyof Contributions & string>(
  app: FastifyInstance,
  hook: K,
  receiver: Receiver<Contributions[K]>,
): void {
  const { receivers } = meet(app)
  if (receivers.has(hook)) throw new FMOD_CORE_DUPLICATE_RECEIVER(hook)
  receivers.set(hook, receiver)
}

/** Hands all contributions over, then tells every receiver that there will be no more. */
export async function deliver(
  app: FastifyInstance,
  modules: readonly ModuleCore[],
  ignoreHooks: readonly string[],
): Promise<void> {
  const meeting = meet(app)
  if (meeting.delivered) throw new FMOD_CORE_MODULES_REGISTERED_TWICE()
  meeting.delivered = true

  const contributions = modules.flatMap((module) => contributionsOf(module, ignoreHooks))
  const homeless = contributions.filter(({ hook }) => !meeting.receivers.has(hook))
  if (homeless.length > 0) {
    throw new FMOD_CORE_HOOK_WITHOUT_PLUGIN(
      homeless
        .map(({ module, hook }) => `module "${module}" contributes "${hook}"${suggestion(hook, meeting)}`)
        .join(', '),
    )
  }
  for (const { hook, contribution, module } of contributions) {
    await meeting.receivers.get(hook)?.take(contribution, module)
  }
  for (const receiver of meeting.receivers.values()) await receiver.complete?.()
}

/** Members that every module has are offered as well: a misspelt `onReady` looks like a contribution. */
function suggestion(hook: string, { receivers }: Rendezvous): string {
  const meant = closestName(hook, [...receivers.keys(), ...ownMembers])
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`
}

function contributionsOf(module: ModuleCore, ignoreHooks: readonly string[]) {
  return Object.entries(module)
    .filter(([hook, value]) => value !== undefined && !ownMembers.has(hook) && !ignoreHooks.includes(hook))
    .map(([hook, contribution]) => ({ hook, contribution: contribution as unknown, module: module.name }))
}

/** The meeting place belongs to the scope that first asks for it and to the scopes below. */
function meet(app: FastifyInstance): Rendezvous {
  if (!app.hasDecorator(rendezvous)) {
    app.decorate(rendezvous, { delivered: false, receivers: new Map() } satisfies Rendezvous)
  }
  return app.getDecorator<Rendezvous>(rendezvous)
}
