/** The application under test and what it logs. */
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Test } from 'tap'
import {
  createErrorServerOptions,
  errors,
  type ErrorsOptions,
  type PageRenderer,
} from '@fastify-modular/errors'

/** One line of the log. */
export interface LogRecord {
  readonly level: number
  readonly msg: string
  readonly reqId?: string
  readonly source?: string
  readonly route?: string
  readonly reason?: string
  readonly err?: { readonly name: string; readonly message: string; readonly stack: string }
  readonly problem?: { readonly status: number; readonly code: string; readonly type: string }
}

/** An application that writes its log into an array. */
export interface Fixture {
  readonly app: FastifyInstance
  readonly log: LogRecord[]
  /** Records of failures, without those of Fastify's request log. */
  readonly failures: () => LogRecord[]
}

export interface FixtureOptions {
  readonly errors?: ErrorsOptions
  readonly server?: FastifyServerOptions
  /** Runs before the plugin is registered. */
  readonly before?: (app: FastifyInstance) => unknown
  /** Runs after it. */
  readonly after?: (app: FastifyInstance) => unknown
}

/** Builds a ready application with the errors plugin; closed with the test. */
export async function createApp(t: Test, options: FixtureOptions = {}): Promise<Fixture> {
  const log: LogRecord[] = []
  const stream = { write: (line: string) => void log.push(JSON.parse(line) as LogRecord) }
  const app = Fastify({
    logger: { level: 'trace', stream },
    ...createErrorServerOptions(),
    ...options.server,
  })
  t.teardown(() => app.close())
  await options.before?.(app)
  await app.register(errors, { errorPage: false, ...options.errors })
  await options.after?.(app)
  await app.ready()
  return { app, log, failures: () => log.filter(({ msg }) => msg === 'request failed') }
}

/** An application whose `GET /` throws the value. */
export function createThrowing(t: Test, value: unknown, options: FixtureOptions = {}): Promise<Fixture> {
  return createApp(t, {
    ...options,
    async after(app) {
      await options.after?.(app)
      app.get('/', () => {
        throw value // oxlint-disable-line typescript/only-throw-error -- anything may be thrown
      })
    },
  })
}

/** A handler or hook that throws the error. */
export function throwing(error: Error): () => never {
  return () => {
    throw error
  }
}

/** Decorates what an Inertia adapter decorates. */
export function renderBy(render: PageRenderer['render']): (app: FastifyInstance) => void {
  return (app) => void app.decorate('inertia', { render, version: () => 'v1' } as never)
}

/** Lets the application listen on a free port of the loopback address. */
export async function listen(app: FastifyInstance): Promise<{ readonly port: number }> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: (app.server.address() as AddressInfo).port }
}
