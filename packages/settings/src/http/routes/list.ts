/** `GET /`: the values of many settings. */
import { Type } from '@sinclair/typebox'
import { SettingScope } from '../../setting-definition.ts'
import { requireTenantWriter } from '../../tenants.ts'
import { callerOf } from '../access.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { toMember } from './tenant.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../operation.ts'
import { closed, Group, ScopeText, SettingValue } from '../schemas.ts'
import { reachFirst } from '../shared-lists.ts'

export function addListRoute({ app, service, sharedLists, tenantOf }: RouteContext): void {
  app.get(
    '/',
    {
      ...operation({
        operationId: 'listSettings',
        summary: 'List settings by scope and group; sensitive values are null',
        query: Type.Object({ scope: Type.Optional(ScopeText), group: Group }, closed),
        ok: Type.Array(SettingValue),
        tag: 'compared',
      }),
      preHandler: reachFirst(service),
    },
    (request, reply) => {
      callerOf(request)
      const { scope, group } = request.query
      if (scope === SettingScope.User) return sharedLists.sendOwn(request, reply, (own) => own.list(group))
      if (scope === SettingScope.Tenant) return sendTenant(request, reply, group)
      return sharedLists.send(request, reply, scope, group)
    },
  )

  /** What the tenant of the request has stored; nothing without one. */
  async function sendTenant(request: FastifyRequest, reply: FastifyReply, group?: string): Promise<unknown> {
    const found = await tenantOf(request)
    if (!found) return reply.send([])
    const membership = requireTenantWriter(found)
    return sharedLists.sendTenant(request, reply, membership, (values) =>
      values.list(group).map((value) => toMember(value, membership.member)),
    )
  }
}
