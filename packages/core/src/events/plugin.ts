/** Decorates `app.events`, receives the modules' handlers, and starts and stops the transport with the application. */
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { receiveContributions } from '../contributions.ts'
import { currentCommand, decorateCommand } from '../internal/command.ts'
import { branded, refuseSecond } from '../internal/decorators.ts'
import { rootOf, supportedFastify } from '../internal/fastify-internals.ts'
import { option, optionProblems, type OptionsSchema, refuseOptions, Type } from '../internal/options.ts'
import { safeRead } from '../internal/safe.ts'
import { openEventBus } from './bus.ts'
import { compileEvents } from './event.ts'
import { discoverHandlers, type EventHandler, type HandlerSource } from './handlers.ts'
import { inProcess } from './in-process.ts'
import type { EventTracing } from './tracing.ts'
import type { EventTransport } from './transport.ts'

declare module '../contributions.ts' {
  interface ModuleContributions {
    /** Event handlers: a list of them, or a namespace import (S 6.3). */
    handlers: HandlerSource
  }
}

export interface EventsOptions {
  /** @default inProcess() */
  readonly transport?: EventTransport
  /** Handlers of an application without modules. */
  readonly handlers?: HandlerSource
  /**
   * Handlers of other processes by the type of their event: `{ 'invoices.created': ['billing.BookHandler'] }`. A durable
   * transport keeps events also for one of them that has not started yet; one that has stays as it is. The boot log does not
   * report them as removed. Other transports keep nothing.
   */
  readonly expects?: Readonly<Record<string, readonly string[]>>
  /** Carries the publisher's trace context to the handlers. */
  readonly tracing?: EventTracing
}

const schema: OptionsSchema<EventsOptions> = Type.Object({
  transport: option.record('an event transport such as inProcess()'),
  handlers: Type.Unknown(), // discoverHandlers checks them
  expects: option.that(isExpectation, 'an object with lists of handlers by type of event, each handler once'),
  tracing: option.that(isTracing, 'an object with the functions current and run'),
})

function isTracing(value: unknown): boolean {
  return ['current', 'run'].every((method) => typeof safeRead(value, method) === 'function')
}

function isExpectation(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const lists: unknown[] = Object.values(value)
  const handlers = lists.flat()
  const areNames = handlers.every((handler) => typeof handler === 'string' && handler !== '')
  return lists.every(Array.isArray) && areNames && new Set(handlers).size === handlers.length
}

const eventsPlugin: FastifyPluginAsync<EventsOptions> = async (app, options) => {
  refuseOptions('the events plugin', optionProblems(schema, options))
  const { transport = inProcess(), handlers, expects = {}, tracing } = options
  const advice = 'Register it once, before modules, which registers it where it is absent.'
  refuseSecond(app, { decorator: 'events', plugin: 'events', advice })
  compileEvents()
  const bus = await openEventBus(transport, app.log, tracing)
  app.decorate('events', branded(bus))
  decorateCommand(app)
  // Within onReady, `ready` of the root calls back after the last of these hooks, with the error of any; that of a scope
  // calls back between them.
  if (!currentCommand())
    app.addHook('onReady', async () => rootOf(app).ready((error) => void (error || bus.start())))
  app.addHook('preClose', async () => bus.stop())
  app.addHook('onClose', () => bus.close())

  const expected = Object.entries(expects).flatMap(([type, names]) =>
    names.map((handler) => ({ handler, type, isExpected: true as const })),
  )
  await bus.add([], expected)
  const discovered: EventHandler[] = []
  receiveContributions(app, 'handlers', {
    take: (source, module) => void discovered.push(...discoverHandlers(module, source, app.log)),
    complete: () => bus.add(discovered),
  })
  if (handlers) await bus.add(discoverHandlers('app', handlers, app.log))
}

/** The events plugin: `app.register(events, { transport })`. Registered by `modules` when absent. */
export const events = fp(eventsPlugin, { name: '@fastify-modular/core/events', fastify: supportedFastify })
