/** The answers to writes that core's exceptions do not cover. */
import { ConflictException, DomainException, ErrorMessages, type FieldErrors } from '@fastify-modular/core'
import { type SettingScope, toEtag } from './setting-definition.ts'

/** 400. A user-scoped write where only System and Application values are written. */
export class InvalidScopeException extends DomainException {
  /** @param path where users' values are written */
  constructor(path = '/api/settings/me') {
    super(`Use ${path} to set user-scoped settings.`, {
      statusCode: 400,
      code: 'INVALID_SCOPE',
      title: 'Invalid scope',
    })
  }
}

/** 422. One or more setting values break their definitions. */
export class SettingValidationException extends DomainException {
  /** The first setting that failed. */
  readonly key: string
  /** The messages of `key`. */
  readonly errors: readonly string[]
  /** The messages of every setting that failed. */
  readonly errorsByKey: FieldErrors

  constructor(key: string, errors: readonly string[], errorsByKey: FieldErrors = { [key]: errors }) {
    super(ErrorMessages.ValidationError, {
      statusCode: 422,
      code: 'SETTING_VALIDATION',
      title: 'Validation Error',
      extensions: { errors: errorsByKey },
    })
    this.key = key
    this.errors = errors
    this.errorsByKey = errorsByKey
  }
}

/** 412. A value, or the store where no row is given, is not what the caller saw (RFC 9110, 13). */
export class PreconditionFailedException extends DomainException {
  /** @param row with its current revision, 0 when unset */
  constructor(row?: { readonly key: string; readonly version: number }) {
    const changed = row
      ? `The setting "${row.key}" has changed since you read it. Read it again, then decide.`
      : 'Settings have changed since you read them. Read them again, then decide.'
    super(changed, {
      statusCode: 412,
      code: 'PRECONDITION_FAILED',
      title: 'Precondition Failed',
      ...(row && { headers: { etag: toEtag(row.version) } }),
    })
  }
}

/** 409. The host locked these settings by its configuration; the stored values beneath stay. */
export class SettingLockedException extends ConflictException {
  constructor(keys: readonly string[]) {
    super(`Locked by the configuration of the host: ${keys.join(', ')}.`, { locked: keys })
  }
}

/** 409. What would come back was stored as a secret, and its setting would show it now. */
export class WasSecretException extends ConflictException {
  constructor(keys: readonly string[]) {
    super(`Was a secret, so write it again: ${keys.join(', ')}.`)
  }
}

/** A row that has changed since its writer read it. */
export interface Conflict {
  readonly key: string
  readonly scope: SettingScope
  /** The row's current version, 0 when unset. */
  readonly version: number
  /** Who wrote it, and when (ISO 8601, UTC); null when unset. */
  readonly updatedBy: string | null
  readonly updatedAt: string | null
}

/** 409. Some rows of a write have changed since they were read. */
export class SettingsChangedException extends ConflictException {
  readonly conflicts: readonly Conflict[]

  /** @param people names of the writers by id */
  constructor(conflicts: readonly Conflict[], people: Readonly<Record<string, string>> = {}) {
    super('Settings have changed since you read them. Read them again, then decide.', { conflicts, people })
    this.conflicts = conflicts
  }
}
