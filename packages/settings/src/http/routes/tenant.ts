/** `/tenant`: the values of the caller's tenant, for who may write them there. */
import { ArgumentException, type Caller } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { TenantChangedException } from '../../exceptions.ts'
import { isTenantSetting, requireSetting } from '../../memory/shared-values.ts'
import { bulkLimits, type SettingsOptions } from '../../options.ts'
import { toStoredDto, toValueChange } from '../../reading/dto.ts'
import { SettingScope } from '../../setting-definition.ts'
import { tenantPermission } from '../../tenants.ts'
import { mayWrite } from '../../visibility.ts'
import { toBulkEntries } from '../../write/bulk.ts'
import { type EntryOutcome, reset, type WriteControl, type WriteEntry } from '../../write/write.ts'
import { refuseTooMany, writeOptionsOf } from '../access.ts'
import { answerRepresentation, answerWritten, conditionOf } from '../conditional.ts'
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

/** What a member of a tenant is shown: other writers, who may be the operator's people, have no name there. */
export function toMember<T extends { readonly updatedBy: string | null }>(row: T, { id }: Caller): T {
  return row.updatedBy === id ? row : { ...row, updatedBy: null }
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

function addTenantListRoute({ app, service, options, sharedLists, tenantWriter }: RouteContext): void {
  app.get(
    '/tenant',
    operation({
      operationId: 'listTenantSettings',
      summary: "The settings of the caller's tenant with what they inherit",
      ...checkedBy(options),
      ok: Type.Array(
        Type.Object({
          ...valueMembers,
          tenant: Type.String(),
          inheritedValue: Value,
          canWrite: Type.Boolean({ description: 'whether the caller may write it in this tenant' }),
        }),
      ),
      tag: 'compared',
    }),
    async (request, reply) => {
      const membership = await tenantWriter(request)
      return sharedLists.sendTenant(request, reply, membership, (values) =>
        service
          .states()
          .filter(isTenantSetting)
          .map((state) => ({
            ...toMember(values.of(state), membership.member),
            inheritedValue: values.inherited(state).value,
            canWrite: mayWrite(membership.member, state.setting.definition),
          })),
      )
    },
  )
}

function addTenantWriteRoutes({ app, service, options, people, tenantWriter }: RouteContext): void {
  const { bulkEntries, bodyBytes } = bulkLimits(options)

  async function write(
    request: FastifyRequest,
    entries: readonly WriteEntry[],
    control: WriteControl & { readonly member: Caller },
  ) {
    const { member, ...rest } = control
    const who = { ...writeOptionsOf(request), origin: 'tenant' }
    const writing = service.write(entries, who, { ...rest, caller: member })
    return nameConflicts(writing, people, (conflict) => toMember(conflict, member))
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
      const { id, member } = await tenantWriter(request)
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
      const condition = conditionOf(request, id)
      if (condition && only?.version !== undefined)
        throw new ArgumentException('Name the version in the body, or in If-Match.', 'version')
      if (condition && !only)
        throw new ArgumentException('Name the version in each entry of a list.', 'version')
      const conditional = condition ? entries.map((entry) => ({ ...entry, expects: condition })) : entries
      const { dryRun = false } = query
      const outcome = await write(request, conditional, { member, isBulk: !only, unknown, dryRun })
      if (dryRun) return outcome.entries.map((each) => toValueChange(each, service.codec))
      const toStored = (each: EntryOutcome) => toMember(toStoredDto(service, each), member)
      if (only) return answerWritten(request, reply, outcome.entries[0], toStored)
      return answerRepresentation(request, reply, undefined, () => outcome.entries.map(toStored))
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
      const { id, member } = await tenantWriter(request)
      requireSameTenant({ id }, request.query.tenant)
      const { key } = request.params
      const state = requireSetting(service.sharedValues, key)
      const expects = conditionOf(request, id)
      const entry = { state, key, scope: SettingScope.Tenant, owner: id, ...reset, expects }
      const { entries } = await write(request, [entry], { member })
      return answerWritten(request, reply, entries[0], (each) => toMember(toStoredDto(service, each), member))
    },
  )
}
