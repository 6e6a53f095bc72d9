/** The application in this process, with a hook on each of its routes from before anything is registered. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createApp } from '#src/app.js'
import { readConfig } from '#src/config.js'
import type { FastifyInstance, RouteOptions } from 'fastify'

interface BuildOptions {
  readonly databaseUrl: string
  /** Sees each route as the application registers it, before the gate reads it. */
  readonly onRoute?: (route: RouteOptions) => void
  /** Called with the application when nothing is registered yet. */
  readonly onCreate?: (app: FastifyInstance) => void
}

/** @throws what stops the boot */
export async function buildExample({
  databaseUrl,
  onRoute,
  onCreate,
}: BuildOptions): Promise<FastifyInstance> {
  const prepare = (message: unknown): void => {
    const { fastify } = message as { readonly fastify: FastifyInstance } // Fastify's own channel
    onCreate?.(fastify)
    if (onRoute) fastify.addHook('onRoute', onRoute)
  }
  subscribe('fastify.initialization', prepare)
  try {
    return await createApp(readConfig({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent' }))
  } finally {
    unsubscribe('fastify.initialization', prepare)
  }
}
