/**
 * Lines of the log for auditors. Each has a member `audit` that names what happened; docs/guides/observability.md lists the
 * names. None has a value of a setting, a password, or a name as it was typed.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type SettingsDiagnostic, SettingScope } from '@fastify-modular/settings'
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'

const changes = 'fastify-modular:settings'

/** Logs start, stop, and each setting that this process changes. Register it first: then `app.stop` is the last line. */
const auditPlugin: FastifyPluginAsync = async (app) => {
  app.addHook('onListen', async () => app.log.info({ audit: 'app.start' }, 'the application has started'))
  app.addHook('onClose', async () => {
    unsubscribe(changes, logChange)
    app.log.info({ audit: 'app.stop' }, 'the application has stopped')
  })
  subscribe(changes, logChange)

  function logChange(message: unknown): void {
    const diagnostic = message as SettingsDiagnostic // its only publisher
    if (diagnostic.type !== 'change') return
    const { key, scope, userId, change, actor, revision } = diagnostic
    app.log.info(
      { audit: 'setting.change', actor, change, key, scope: nameOf(scope), user: userId, revision },
      'a setting was changed',
    )
  }
}

function nameOf(scope: SettingScope): string {
  return Object.entries(SettingScope).find(([, value]) => value === scope)?.[0] ?? String(scope)
}

export const audit = fp(auditPlugin, { name: 'audit' })
