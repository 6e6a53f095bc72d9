/** What a validator found wrong with a request, by field: AJV, TypeBox and whatever speaks their format. */
import { ErrorMessages, type FieldErrors } from '@fastify-modular/core'
import { isErrorStatus, type Problem } from '../problem.ts'
import { cut, safeRead, safeText } from '../values/safe-read.ts'

const maxMessages = 100
const sections: Readonly<Record<string, string>> = {
  querystring: 'query',
  params: 'params',
  headers: 'headers',
}

/** The failure of a schema as the same problem as a ValidationException, or undefined for any other error. */
export function fromValidation(error: unknown, typeBase: string): Problem | undefined {
  const failures = safeRead(error, 'validation')
  const context = safeText(error, 'validationContext') // Fastify names the part of the request
  if (context === undefined || !Array.isArray(failures)) return undefined
  const status = safeRead(error, 'statusCode')
  return {
    type: `${typeBase}validation`,
    title: 'Validation Error',
    // A schemaErrorFormatter may have chosen another 4xx.
    status: isErrorStatus(status) && status < 500 ? status : 400,
    detail: ErrorMessages.ValidationError,
    code: 'VALIDATION',
    extensions: { errors: fieldErrors(failures, context) },
  }
}

/** `{ 'nested.x.1': ['must be integer'] }`; fields outside the body are prefixed: `query.n`, `params.id`. */
function fieldErrors(failures: readonly unknown[], context: string): FieldErrors {
  const errors = Object.create(null) as Record<string, string[]> // a field may be called __proto__
  for (const failure of failures.slice(0, maxMessages)) {
    const field = fieldOf(failure, sections[context])
    const messages = (errors[field] ??= [])
    messages.push(safeText(failure, 'message', 500) ?? 'is not valid')
  }
  return errors
}

function fieldOf(failure: unknown, section: string | undefined): string {
  const pointer = safeText(failure, 'instancePath') ?? ''
  const path = pointer.split('/').slice(1).map(unescapePointer)
  const params = safeRead(failure, 'params')
  // These two name the field beside the pointer to its parent.
  const named = safeText(params, 'missingProperty') ?? safeText(params, 'additionalProperty')
  const parts = [section, ...path, named].filter((part) => part !== undefined)
  return parts.length > 0 ? printable(parts.join('.')) : '$'
}

/** RFC 6901, 4. */
function unescapePointer(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Names of fields come from the request. */
function printable(field: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what this removes
  return cut(field.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ''), 200)
}
