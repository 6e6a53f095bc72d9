/** `/tenant`: the values of the caller's tenant, for who may write them there. */
import { createHash } from 'node:crypto'
import type { Caller } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { TenantChangedException } from '../../exceptions.ts'
import { isTenantSetting, requireSetting } from '../../memory/shared-values.ts'
import { bulkLimits, type SettingsOptions } from '../../options.ts'
import { requirePlace } from '../../places.ts'
import { type SettingValueDto, toStoredDto, toValueChange } from '../../reading/dto.ts'
import { SettingScope } from '../../setting-definition.ts'
import { requireTenant, requireTenantWriter, tenantPermission } from '../../tenants.ts'
import { reset, toBulkEntries, type WriteControl, type WriteEntry } from '../../write/write.ts'
import { callerOf, refuseTooMany, writeOptionsOf } from '../access.ts'
import { answerRepresentation, conditionOf } from '../conditional.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../operation.ts'
import { nameConflicts } from '../people.ts'
import { changeMembers, closed, DryRun, Key, KeyParams, Revision, Value, valueMembers } from '../schemas.ts'

const TenantId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'the id of the tenant that is meant',
})
const Update = Type.Object(
  { key: Key, value: Value, version: Type.Optional(Revision), tenant: TenantId },
  closed,
)
const Stored = Type.Object({ ...valueMembers, tenant: Type.String() })

/** The tag of a version in one tenant: two may have equal versions. */
export function toTenantEtag(revision: number, tenant: string): string {
  return `"r${revision}-${createHash('sha256').update(tenant).digest('base64url').slice(0, 8)}"`
}

/** What the members of a tenant are shown: writers from outside, who may be the operator's people, have no name there. */
export function toMembers(values: readonly SettingValueDto[], { id }: Caller): readonly SettingValueDto[] {
  return values.map((value) => (value.updatedBy === id ? value : { ...value, updatedBy: null }))
}

/** @throws {TenantChangedException} the request was made for another tenant */
export function requireSameTenant({ id }: { readonly id: string }, ...named: readonly string[]): void {
  if (named.some((each) => each !== id)) throw new TenantChangedException()
}

/** The permission counts in the tenant, which the gate does not know. */
function checkedBy({ tenants }: SettingsOptions) {
  return { checkedByHandler: tenants?.permission ?? tenantPermission }
}

export function addTenantRoutes(context: RouteContext): void {
  addTenantListRoute(context)
  addTenantWriteRoutes(context)
}

function addTenantListRoute({ app, service, options, sharedLists, tenantOf }: RouteContext): void {
  app.get(
    '/tenant',
    operation({
      operationId: 'listTenantSettings',
      summary: "The settings of the caller's tenant with what they inherit",
      ...checkedBy(options),
      ok: Type.Array(Type.Object({ ...valueMembers, tenant: Type.String(), inheritedValue: Value })),
      tag: 'compared',
    }),
    async (request, reply) => {
      const membership = requireTenantWriter(requireTenant(await tenantOf(request)))
      return sharedLists.sendTenant(request, reply, membership, (values) =>
        service
          .states()
          .filter(isTenantSetting)
          .flatMap((state) =>
            toMembers([values.of(state)], callerOf(request)).map((value) => ({
              ...value,
              inheritedValue: values.inherited(state).value,
            })),
          ),
      )
    },
  )
}

function addTenantWriteRoutes({ app, service, options, people, tenantOf }: RouteContext): void {
  const { bulkEntries, bodyBytes } = bulkLimits(options)

  async function write(
    request: FastifyRequest,
    entries: readonly WriteEntry[],
    control: WriteControl & { readonly member: Caller },
  ) {
    for (const { state, scope, isReset } of entries) if (!isReset) requirePlace(state.setting, scope)
    const { member, ...rest } = control
    const who = { ...writeOptionsOf(request), origin: 'tenant' }
    return nameConflicts(service.write(entries, who, { ...rest, caller: member }), people)
  }

  app.put(
    '/tenant',
    {
      bodyLimit: bodyBytes,
      ...operation({
        operationId: 'updateTenantSettings',
        summary: "Update settings of the caller's tenant, all or nothing",
        ...checkedBy(options),
        query: Type.Object({ dryRun: DryRun }, closed),
        body: Type.Union([Update, Type.Array(Update)]),
        written: Type.Union([Stored, Type.Array(Type.Union([Stored, Type.Object(changeMembers)]))]),
      }),
    },
    async (request, reply) => {
      const { body, query } = request
      const updates = Array.isArray(body) ? body : [body]
      const { id, member } = requireTenantWriter(requireTenant(await tenantOf(request)))
      requireSameTenant({ id }, ...updates.map(({ tenant }) => tenant))
      refuseTooMany('bulk', updates, bulkEntries)
      const [only] = Array.isArray(body) ? [] : updates
      if (only) requireSetting(service.sharedValues, only.key)
      const toRow = ({ key, value, version }: (typeof updates)[number]) => ({
        key,
        value,
        scope: SettingScope.Tenant,
        ...(version !== undefined && { version }),
      })
      const { entries, unknown } = toBulkEntries(service.sharedValues, updates.map(toRow), id)
      const condition = only && conditionOf(request, (revision) => toTenantEtag(revision, id))
      const conditional = condition ? entries.map((entry) => ({ ...entry, expects: condition })) : entries
      const { dryRun = false } = query
      const outcome = await write(request, conditional, { member, isBulk: !only, unknown, dryRun })
      if (dryRun) return outcome.entries.map((each) => toValueChange(each, service.codec))
      const etag = toTenantEtag(outcome.entries[0]?.after?.revision ?? 0, id)
      return answerRepresentation(request, reply, etag, () => {
        const stored = outcome.entries.map((each) => toStoredDto(service, each))
        return only ? stored[0] : stored
      })
    },
  )

  app.delete(
    '/tenant/:key',
    operation({
      operationId: 'resetTenantSetting',
      summary: "Clear a setting of the caller's tenant",
      ...checkedBy(options),
      params: KeyParams,
      query: Type.Object({ tenant: TenantId }, closed),
      written: Stored,
    }),
    async (request, reply) => {
      const { id, member } = requireTenantWriter(requireTenant(await tenantOf(request)))
      requireSameTenant({ id }, request.query.tenant)
      const { key } = request.params
      const state = requireSetting(service.sharedValues, key)
      const expects = conditionOf(request, (revision) => toTenantEtag(revision, id))
      const entry = { state, key, scope: SettingScope.Tenant, owner: id, ...reset, expects }
      const { entries } = await write(request, [entry], { member })
      const etag = toTenantEtag(entries[0]?.after?.revision ?? 0, id)
      return answerRepresentation(request, reply, etag, () => entries[0] && toStoredDto(service, entries[0]))
    },
  )
}
