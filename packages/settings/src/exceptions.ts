/** The answers to writes that core's exceptions do not cover. */
import { ConflictException, DomainException } from '@fastify-modular/core'
import { toEtag } from './setting-definition.ts'

/** 400. A user-scoped write where only System and Application values are written (S 4.1.1). */
export class InvalidScopeException extends DomainException {
  constructor(message = 'Use /api/settings/me to set user-scoped settings.') {
    super(message, { statusCode: 400, code: 'INVALID_SCOPE', title: 'Invalid scope' })
  }
}

/** 412. The value is not the one that the caller saw (RFC 9110, 13); `revision` is the row's current one, 0 when unset. */
export class PreconditionFailedException extends DomainException {
  constructor(key: string, revision: number) {
    super(`The setting "${key}" has changed since you read it. Read it again, then decide.`, {
      statusCode: 412,
      code: 'PRECONDITION_FAILED',
      title: 'Precondition Failed',
      headers: { etag: toEtag(revision) },
    })
  }
}

/** 409. The host locked these settings by its configuration; what is stored beneath stays as it is. */
export class SettingLockedException extends ConflictException {
  constructor(keys: readonly string[]) {
    super(`Locked by the configuration of the host: ${keys.join(', ')}.`, { locked: keys })
  }
}
