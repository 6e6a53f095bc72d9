/** @fastify-modular/core: modules, their order and hooks, events, the caller, domain exceptions. */
import type { Events } from './events/bus.ts'
import type { Module } from './modules/module.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Publishes events between modules (S 6.2). */
    readonly events: Events
    /** Whether a command of the command line opened the application: what works by itself does not start. */
    readonly isCommand: boolean
    /** The application's modules in dependency order. */
    readonly modules: readonly Module[]
  }
}

export { type Caller, hasPermission, requireCaller } from './caller.ts'
export { type ModuleContributions, receiveContributions } from './contributions.ts'
export {
  ArgumentException,
  ConflictException,
  type DefinedProblem,
  defineProblem,
  DomainException,
  ErrorMessages,
  type FieldErrors,
  ForbiddenException,
  isDomainException,
  NotFoundException,
  ServiceUnavailableException,
  TooManyRequestsException,
  UnauthorizedException,
  ValidationException,
} from './domain-exceptions.ts'
export type { Events } from './events/bus.ts'
export { defineEvent, type DefinedEvent, type DomainEvent } from './events/event.ts'
export { inProcess } from './events/in-process.ts'
export { events, type EventsOptions } from './events/plugin.ts'
export type { EventDiagnostic } from './events/diagnostics.ts'
export type { EventTracing } from './events/tracing.ts'
export { type DeadLetter, type DeadLetters, pgTx, sqliteTx, type Tx } from './events/transport.ts'
export { defineModule, type Module } from './modules/module.ts'
export { modules } from './modules/plugin.ts'
