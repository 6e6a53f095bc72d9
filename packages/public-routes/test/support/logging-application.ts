/** Applications whose log is read by a test. */
import { publicRoutes, type PublicRoutesOptions } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { headerProvider } from './application.ts'

type LogLine = Record<string, unknown> & { readonly level: number; readonly msg: string }

/** An application whose log is collected. */
export function loggingApp(t: Test): {
  app: FastifyInstance
  lines: () => readonly LogLine[]
  warnings: () => readonly LogLine[]
} {
  const lines: LogLine[] = []
  const app = Fastify({
    logger: { level: 'info', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } },
  })
  t.teardown(() => app.close().catch(() => {}))
  return { app, lines: () => lines, warnings: () => lines.filter(({ level }) => level === 40) }
}

/** Registers the gate. */
export const gate = (app: FastifyInstance, options: Partial<PublicRoutesOptions> = {}) =>
  app.register(publicRoutes, { provider: headerProvider, env: false, ...options })
