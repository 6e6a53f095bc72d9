/** Decorates `app.events`, receives the modules' handlers, and starts and stops the transport with the application. */
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { receive } from '../contributions.ts'
import { FMOD_CORE_EVENTS_REGISTERED_TWICE } from '../misuse-errors.ts'
import { createEventBus } from './bus.ts'
import { discoverHandlers, type HandlerSource } from './handlers.ts'
import { inProcess } from './in-process.ts'
import type { EventTransport } from './transport.ts'

declare module '../contributions.ts' {
  interface Contributions {
    handlers: HandlerSource
  }
}

export interface EventsOptions {
  /** @default inProcess() */
  readonly transport?: EventTransport
  /** Handlers of an application without modules. */
  readonly handlers?: HandlerSource
}

const eventsPlugin: FastifyPluginAsync<EventsOptions> = async (
  app,
  { transport = inProcess(), handlers },
) => {
  if (app.hasDecorator('events')) throw new FMOD_CORE_EVENTS_REGISTERED_TWICE()
  const bus = createEventBus(transport)
  app.decorate('events', bus)
  app.addHook('onReady', () => bus.start())
  app.addHook('onClose', () => bus.close())

  await bus.open(app.log)
  receive(app, 'handlers', {
    take: async (source, module) => bus.add(await discoverHandlers(module, source)),
  })
  if (handlers) await bus.add(await discoverHandlers('app', handlers))
}

/** The events plugin: `app.register(events, { transport })`. Registered by `modules` when absent. */
export const events = fp(eventsPlugin, { name: '@fastify-modular/core/events', fastify: '5.x' })
