/** A module with a resource whose test goes as its host says. */
import { defineModule, type Module } from '@fastify-modular/core'
import { ProbeFailure } from '@fastify-modular/settings'
import { definitions } from './definitions.js'

export interface Mailer {
  readonly module: Module
  /** How many tests of the host `slow` run: they wait until they are aborted, or let go. */
  readonly running: () => number
  readonly letGo: () => void
}

/** Hosts: `works`, `silent`, `refused`, `broken`, `slow`; any other one works. */
export function createMailer(): Mailer {
  const { host, port, password } = definitions
  const waiting = new Set<() => void>()
  async function wait(signal: AbortSignal): Promise<void> {
    let end = (): void => undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    waiting.add(end)
    signal.addEventListener('abort', end, { once: true })
    await ended
    waiting.delete(end)
  }
  const module = defineModule({
    name: 'mailer',
    plugin: async (app) => {
      app.settings.resource(
        'mail',
        { host, port, password },
        {
          create: (values) => values,
          async probe(made, { signal }) {
            if (made.host === 'refused') throw new ProbeFailure('The mail server refused the sign-in.')
            if (made.host === 'broken') throw new Error('A secret of the network.')
            if (made.host === 'silent') return undefined
            if (made.host === 'slow') await wait(signal)
            return `Connected to ${made.host}:${made.port} in 40 ms`
          },
        },
      )
    },
  })
  return {
    module,
    running: () => waiting.size,
    letGo: () => {
      for (const end of waiting) end()
    },
  }
}
