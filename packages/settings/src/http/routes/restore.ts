/** The way back: one value as a revision had it, or everything that a change set replaced. */
import { Type } from '@sinclair/typebox'
import { restore, revert } from '../../history/revert.ts'
import { toStoredDto } from '../../reading/dto.ts'
import { inheritedBy } from '../../reading/list.ts'
import { SettingScope, toEtag } from '../../setting-definition.ts'
import { requireVisible, updatePermission } from '../../visibility.ts'
import { callerOf, writeOptionsOf } from '../access.ts'
import { ArgumentException } from '@fastify-modular/core'
import { safeRead } from '@fastify-modular/core/internal'
import { requireSameTenant, toMember } from './tenant.ts'
import { answerWritten, conditionOf } from '../conditional.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../operation.ts'
import { nameConflicts } from '../people.ts'
import {
  changeMembers,
  closed,
  DryRun,
  KeyParams,
  Keys,
  nullable,
  Revision,
  RevisionParams,
  ScopeInput,
  SettingValue,
} from '../schemas.ts'

const Note = Type.Optional(Type.String({ maxLength: 500, description: 'text of at most 500 characters' }))

const Force = Type.Record(Type.String(), Revision, {
  description: 'the versions of the settings that are put back although they have changed',
})

const Reverted = Type.Object({
  revision: Revision,
  dryRun: Type.Boolean(),
  values: Type.Array(
    Type.Object({
      ...changeMembers,
      isSecret: Type.Boolean(),
      storedAt: nullable(Type.String({ description: 'when the secret that comes back was stored' })),
    }),
  ),
})

export function addRestoreRoutes(context: RouteContext): void {
  const { app, service, people } = context
  addRestoreRoute(context)
  app.post(
    '/changes/:revision/revert',
    operation({
      operationId: 'revertSettingChanges',
      summary: 'Put back everything that a change set replaced, all or nothing',
      checkedByHandler: updatePermission,
      params: RevisionParams,
      query: Type.Object({ dryRun: DryRun }, closed),
      body: Type.Object({ keys: Type.Optional(Keys), force: Type.Optional(Force), note: Note }, closed),
      ok: Reverted,
      tag: 'sent',
    }),
    async (request, reply) => {
      const caller = callerOf(request)
      const { note = null, ...what } = request.body
      const options = { ...writeOptionsOf(request), origin: 'revert', note, ...what, ...request.query }
      const { revision } = request.params
      const reverting = revert(service, revision, { ...options, as: caller }, conditionOf(request))
      const report = await nameConflicts(reverting, people)
      reply.header('etag', toEtag(report.revision))
      return report
    },
  )
}

function addRestoreRoute({ app, service, tenantOf, tenantWriter }: RouteContext): void {
  app.post(
    '/:key/restore',
    operation({
      operationId: 'restoreSetting',
      summary: 'Write the value of a revision as a new revision',
      checkedByHandler: updatePermission,
      params: KeyParams,
      body: Type.Object(
        {
          scope: ScopeInput,
          revision: Revision,
          note: Note,
          ...(service.registry.hasTenants && { tenant: Type.Optional(Type.String()) }),
        },
        closed,
      ),
      written: SettingValue,
    }),
    async (request, reply) => {
      const { key } = request.params
      const { scope, revision, note = null } = request.body
      const isOwn = scope === SettingScope.User
      const writer = scope === SettingScope.Tenant ? await tenantWriter(request) : undefined
      const caller = writer?.member ?? callerOf(request)
      const userId = isOwn ? caller.id : undefined
      const definition = service.sharedValues.find(key)?.setting.definition
      if (writer) requireSameTenant(writer, tenantNamedIn(request.body))
      else requireVisible(caller, definition, { scope, userId }, service)
      const tenant = isOwn ? (await tenantOf(request))?.id : writer?.id
      const options = {
        ...writeOptionsOf(request),
        origin: writer ? 'tenant' : 'restore',
        note,
        scope,
        ...(userId !== undefined && { userId }),
        ...(tenant !== undefined && { tenant }),
      }
      const control = { caller, expects: conditionOf(request, writer?.id) }
      const { entries } = await restore(service, key, revision, options, control)
      const above = await inheritedBy(service, entries[0], tenant)
      return answerWritten(request, reply, entries[0], (written) => {
        const stored = toStoredDto(service, written, above)
        return writer ? toMember(stored, writer.member) : stored
      })
    },
  )
}

/** @throws {ArgumentException} the body names no tenant */
function tenantNamedIn(body: object): string {
  const named: unknown = safeRead(body, 'tenant')
  if (named === undefined) throw new ArgumentException('Name the tenant whose value is restored.', 'tenant')
  return String(named)
}
