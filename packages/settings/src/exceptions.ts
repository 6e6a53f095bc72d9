/** The answers to writes that core's exceptions do not cover. */
import { defineProblem, ErrorMessages, type FieldErrors } from '@fastify-modular/core'
import { type Static, Type } from '@sinclair/typebox'
import { type SettingScope, toEtag } from './setting-definition.ts'

const conflict = { status: 409, code: 'CONFLICT', title: 'Conflict' } as const
const Texts = Type.Unsafe<readonly string[]>(Type.Array(Type.String()))

/** 400. A user-scoped write where only System and Application values are written. */
export class InvalidScopeException extends defineProblem({
  status: 400,
  code: 'INVALID_SCOPE',
  title: 'Invalid scope',
}) {
  /** @param path where users' values are written, or those of tenants */
  constructor(path = '/api/settings/me', whose = 'user') {
    super(`Use ${path} to set ${whose}-scoped settings.`)
  }
}

/** 404. The caller belongs to no tenant, or the request names none. */
export class NoTenantException extends defineProblem({
  status: 404,
  code: 'NOT_FOUND',
  title: 'Resource not found',
}) {
  constructor() {
    super('The request has no tenant.')
  }
}

/** 409. The request was made for another tenant than the one that it has now. */
export class TenantChangedException extends defineProblem({
  status: 409,
  code: 'TENANT_CHANGED',
  title: 'Conflict',
}) {
  constructor() {
    super('You work in another tenant now. Reload, then decide.')
  }
}

/** 422. One or more setting values break their definitions. */
export class SettingValidationException extends defineProblem({
  status: 422,
  code: 'SETTING_VALIDATION',
  title: 'Validation Error',
  extensions: Type.Object({ errors: Type.Unsafe<FieldErrors>(Type.Record(Type.String(), Texts)) }),
}) {
  /** The first setting that failed. */
  readonly key: string
  /** The messages of `key`. */
  readonly errors: readonly string[]
  /** The messages of every setting that failed. */
  readonly errorsByKey: FieldErrors

  constructor(key: string, errors: readonly string[], errorsByKey: FieldErrors = { [key]: errors }) {
    super(ErrorMessages.ValidationError, { errors: errorsByKey })
    this.key = key
    this.errors = errors
    this.errorsByKey = errorsByKey
  }
}

/** 412. A value, or the store where no row is given, is not what the caller saw (RFC 9110, 13). */
export class PreconditionFailedException extends defineProblem({
  status: 412,
  code: 'PRECONDITION_FAILED',
  title: 'Precondition Failed',
}) {
  /** @param row with its current revision, 0 when unset */
  constructor(row?: {
    readonly key: string
    readonly version: number
    readonly tenant?: string | undefined
  }) {
    const changed = row
      ? `The setting "${row.key}" has changed since you read it. Read it again, then decide.`
      : 'Settings have changed since you read them. Read them again, then decide.'
    super(changed, undefined, row && { headers: { etag: toEtag(row.version, row.tenant) } })
  }
}

/** 409. The host locked these settings by its configuration; the stored values beneath stay. */
export class SettingLockedException extends defineProblem({
  ...conflict,
  extensions: Type.Object({ locked: Texts }),
}) {
  constructor(keys: readonly string[]) {
    super(`Locked by the configuration of the host: ${keys.join(', ')}.`, { locked: keys })
  }
}

/** 409. A change of these settings waits to be kept: another one that has to be kept cannot begin. */
export class UnkeptSettingsException extends defineProblem({
  ...conflict,
  extensions: Type.Object({ keys: Texts, revision: Type.Integer() }),
}) {
  constructor(keys: readonly string[], revision: number) {
    super(`Revision ${revision} waits to be kept, which changed: ${keys.join(', ')}.`, { keys, revision })
  }
}

/** 409. A change that had to be kept is over. */
export class ChangeSettledException extends defineProblem({
  ...conflict,
  extensions: Type.Object({ state: Type.Optional(Type.String()) }),
}) {
  /** @param state what became of it */
  constructor(revision: number, state?: string) {
    super(`Revision ${revision} does not wait to be kept any more.`, state === undefined ? {} : { state })
  }
}

const TextOrNull = Type.Union([Type.String(), Type.Null()])
const Conflict = Type.Object({
  key: Type.String(),
  scope: Type.Unsafe<SettingScope>(Type.Integer()),
  /** The row's current version, 0 when unset. */
  version: Type.Integer(),
  /** Who wrote it; null when unset. */
  updatedBy: TextOrNull,
  /** ISO 8601, UTC; null when unset. */
  updatedAt: TextOrNull,
})
/** A row that has changed since its writer read it. */
export type Conflict = Static<typeof Conflict>

/** 409. Some rows of a write have changed since they were read. */
export class SettingsChangedException extends defineProblem({
  ...conflict,
  extensions: Type.Object({
    conflicts: Type.Unsafe<readonly Conflict[]>(Type.Array(Conflict)),
    people: Type.Unsafe<Readonly<Record<string, string>>>(Type.Record(Type.String(), Type.String())),
  }),
}) {
  readonly conflicts: readonly Conflict[]

  /** @param people names of the writers by id */
  constructor(conflicts: readonly Conflict[], people: Readonly<Record<string, string>> = {}) {
    super('Settings have changed since you read them. Read them again, then decide.', { conflicts, people })
    this.conflicts = conflicts
  }
}
