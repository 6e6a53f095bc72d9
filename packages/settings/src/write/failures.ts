/** What is done with writes that fail, beside telling the caller: they are counted, and defects are logged. */
import { isDomainException } from '@fastify-modular/core'
import type { FastifyBaseLogger } from 'fastify'
import {
  PreconditionFailedException,
  SettingsChangedException,
  SettingValidationException,
} from '../exceptions.ts'
import { notAsChecked } from '../values/standard-schema.ts'

/** People can do nothing about it: the author of the setting has to. */
export function reportSchemas(error: unknown, log: FastifyBaseLogger): void {
  if (!(error instanceof SettingValidationException)) return
  for (const [key, messages] of Object.entries(error.errorsByKey))
    if (messages.includes(notAsChecked))
      log.error({ key }, 'the schema of a setting makes values of others that it does not accept as they are')
}

/** As what a failure is counted. */
export function failureOf(error: unknown): 'conflicts' | 'refusals' | 'failures' {
  if (error instanceof PreconditionFailedException || error instanceof SettingsChangedException)
    return 'conflicts'
  return isDomainException(error) && error.statusCode < 500 ? 'refusals' : 'failures'
}
