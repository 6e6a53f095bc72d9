/** Export and import of System and Application values (decision 26b: System rows for administrators only). */
import type { Caller } from '@fastify-modular/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SettingScope } from '../../setting-definition.ts'
import type { SettingsService } from '../../create-settings.ts'
import type { ScopeFilter } from '../../history/transfer.ts'
import { requireUpdate } from '../access.ts'
import { toEtag } from '../conditional.ts'
import type { ImportRoute } from '../route-types.ts'
import { originOf, sharedScopeOf } from './values.ts'

export function createTransferHandlers({ sharedValues, transfer }: SettingsService) {
  async function exportSettings(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const caller = requireUpdate(request)
    return reply
      .header('cache-control', 'no-store')
      .header('etag', toEtag(sharedValues.revision))
      .send(transfer.exportSettings(visibleTo(caller)))
  }

  async function importSettings(request: FastifyRequest<ImportRoute>, reply: FastifyReply): Promise<unknown> {
    const settings = request.body.settings.map((entry) => ({ ...entry, scope: sharedScopeOf(entry.scope) }))
    const caller = requireUpdate(
      request,
      settings.map(({ scope }) => scope),
    )
    const { mode, dryRun, revision } = request.query
    const options = {
      ...originOf(request),
      origin: 'import',
      mode: mode === 'replace' ? ('replace' as const) : ('merge' as const),
      dryRun: dryRun === 'true',
      included: visibleTo(caller),
      ...(revision !== undefined && { revision: Number(revision) }),
    }
    const report = await transfer.importSettings({ settings }, options)
    return reply.header('etag', toEtag(report.revision)).header('cache-control', 'no-store').send(report)
  }

  return { exportSettings, importSettings }
}

/** System rows are for administrators: to others they are not in the file, and no import removes them. */
function visibleTo(caller: Caller): ScopeFilter {
  return (scope) => scope !== SettingScope.System || caller.isAdmin === true
}
