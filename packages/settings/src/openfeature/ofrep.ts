/**
 * The OpenFeature Remote Evaluation Protocol: flags over HTTP, for the SDKs of all languages. Its clients know 200, 304,
 * 400, 404 and 500 with an `errorCode`, and what stands before every route: 401, 403, 429.
 */
import {
  ArgumentException,
  DomainException,
  ForbiddenException,
  hasPermission,
  NotFoundException,
} from '@fastify-modular/core'
import {
  type AccessOfPlugin,
  option,
  optionProblems,
  type OptionsSchema,
  readCaller,
  refuseOptions,
  supportedFastify,
  safeRead,
} from '@fastify-modular/core/internal'
import { type Problem, problemOfError, problemOfStatus } from '@fastify-modular/core/problem'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { callerOf, tightenAccess } from '../http/access.ts'
import { sendUnlessUnchanged, toTaggedJson } from '../http/conditional.ts'
import { answerProblem, hasErrorsPlugin, prepareScope } from '../http/routes.ts'
import { KeyParams, type SchemaTypes, Value } from '../http/schemas.ts'
import type { FindCaller } from '../options.ts'
import type { Resolution } from '../memory/shared-values.ts'
import { requireTenantId } from '../memory/owned-values.ts'
import type { Parts } from '../parts.ts'
import { evaluate, flagParts, reasons, targetOf } from './evaluate.ts'

/** Options of `ofrep`, beside Fastify's `prefix`. */
export interface OfrepOptions {
  /** Returns the caller of a request. @default `request.caller`, which the gate of public-routes sets */
  readonly findCaller?: FindCaller
  /** Who may evaluate flags: a permission, `{ allOf }` or `{ anyOf }`. Needs the gate of public-routes. @default 'signed-in' */
  readonly access?: AccessOfPlugin
  /**
   * The permission to evaluate the flags of other users, for the services that ask on their behalf. Each such request is
   * logged. @default nobody may, administrators neither
   */
  readonly evaluateForOthers?: string
}

const optionsSchema: OptionsSchema<OfrepOptions> = Type.Object({
  findCaller: option.function('a function of the request'),
  access: option.access(),
  evaluateForOthers: Type.String({ minLength: 1, description: 'the name of a permission' }),
})

const UserId = Type.String({ maxLength: 255, description: 'a user id of at most 255 characters' })
/** Other members of the context are for the rules of other providers. */
const Question = Type.Object({
  context: Type.Optional(
    Type.Object({ targetingKey: Type.Optional(UserId) }, { additionalProperties: true }),
  ),
})
const Evaluation = Type.Object({
  key: Type.String(),
  value: Value,
  reason: Type.Unsafe<string>({ type: 'string', enum: [...new Set(Object.values(reasons))] }),
})
const headers = { ETag: { type: 'string', description: 'The tag of these values for this caller' } }
const Failure = Type.Object({ key: Type.String(), errorCode: Type.String(), errorDetails: Type.String() })

const ofrepPlugin: FastifyPluginAsync<OfrepOptions> = async (scope, options) => {
  refuseOptions('ofrep', optionProblems(optionsSchema, options))
  prepare(scope, options)
  const app = scope.withTypeProvider<SchemaTypes>()
  const parts = flagParts(scope.settings)

  app.post(
    '/ofrep/v1/evaluate/flags/:key',
    operation(options, {
      operationId: 'evaluateFlag',
      summary: 'The value of a flag for the caller',
      params: KeyParams,
      body: Question,
      response: { 200: Evaluation, ...failuresOf(400, 403, 404, 500) },
    }),
    async (request) => {
      const { key } = request.params
      const userId = userOf(request, options)
      const flag = await evaluate(parts, key, userId, await tenantFor(request, parts, userId))
      if (!flag) throw new NotFoundException('Flag', key)
      if (flag.error) throw flag.error
      return toEvaluation(key, flag)
    },
  )

  app.post(
    '/ofrep/v1/evaluate/flags',
    operation(options, {
      operationId: 'evaluateFlags',
      summary: 'The values of all flags for the caller',
      body: Question,
      response: {
        200: Type.Object({ flags: Type.Array(Type.Union([Evaluation, Failure])) }, { headers }),
        304: Type.Null({ description: 'The caller has what is current', headers }),
        ...failuresOf(400, 403, 500),
      },
    }),
    async (request, reply) => {
      const userId = userOf(request, options)
      const tenant = await tenantFor(request, parts, userId)
      const keys = parts
        .states()
        .flatMap(({ setting: { definition } }) => (definition.flag ? definition.key : []))
      const evaluations = keys.map(async (key) => {
        const flag = await evaluate(parts, key, userId, tenant)
        return !flag || flag.error ? unreadable(key) : toEvaluation(key, flag)
      })
      const flags = await Promise.all(evaluations)
      const audience = JSON.stringify([callerOf(request).id, userId, tenant])
      return sendUnlessUnchanged(request, reply, toTaggedJson({ flags }, audience))
    },
  )
}

/**
 * Settings with `flag: true` for the clients of OFREP: `app.register(ofrep)`, after settings. The flags are those of the
 * caller; `targetingKey` may repeat the caller's id.
 */
export const ofrep = fp(ofrepPlugin, {
  name: '@fastify-modular/settings/openfeature',
  fastify: supportedFastify,
  decorators: { fastify: ['settings'] },
  encapsulate: true,
})

/** What both routes share. */
function prepare(scope: FastifyInstance, options: OfrepOptions): void {
  tightenAccess(scope, options)
  prepareScope(scope, options.findCaller ?? readCaller, 'private, no-store')
  const isAnswered = hasErrorsPlugin(scope)
  scope.setErrorHandler((error, request, reply) => {
    const failure = toFailure(error, request)
    if (isAnswered) throw failure // the handler of the errors plugin comes next
    answerProblem(failure, request, reply)
  })
}

/** The `schema` and `config` of a route, for its options. The gate refuses a permission that nobody declares. */
function operation<const S extends object>({ evaluateForOthers }: OfrepOptions, schema: S) {
  const description = `Only the targetingKey of another user needs ${evaluateForOthers}.`
  return {
    schema: { tags: ['settings'], ...schema, ...(evaluateForOthers && { description }) },
    config: {
      access: 'signed-in',
      ...(evaluateForOthers && { checkedByHandler: evaluateForOthers }),
    },
  }
}

function failuresOf(...statuses: readonly number[]): Readonly<Record<number, object>> {
  const content = { 'application/problem+json': { schema: Type.Partial(Failure) } }
  const toResponse = (status: number) => ({ description: problemOfStatus(status).title, content })
  return Object.fromEntries(statuses.map((status) => [status, toResponse(status)]))
}

/** Whose flags are wanted. @throws {ForbiddenException} another user's */
function userOf(
  request: FastifyRequest<{ Body: Static<typeof Question> }>,
  { evaluateForOthers }: OfrepOptions,
): string {
  const caller = callerOf(request)
  const targetingKey = targetOf(request.body.context?.targetingKey) ?? caller.id
  if (targetingKey === caller.id) return caller.id
  if (evaluateForOthers === undefined || !hasPermission(caller, evaluateForOthers))
    throw new ForbiddenException('The targetingKey must be your own user id.')
  request.log.info(
    { audit: 'flags.evaluate', actor: caller.id, user: targetingKey },
    'flags are evaluated for another user',
  )
  return targetingKey
}

/**
 * In which tenant flags are wanted: that of the request, or for another user, which `userOf` has allowed, what the context
 * names.
 * @throws {ArgumentException} another tenant than that of the request
 */
async function tenantFor(
  request: FastifyRequest<{ Body: Static<typeof Question> }>,
  { findMembership }: Parts,
  userId: string,
): Promise<string | undefined> {
  if (!findMembership) return undefined
  const named = safeRead(request.body.context, 'tenant')
  const caller = callerOf(request)
  const own = (await findMembership(request, caller))?.id
  if (named === undefined) return userId === caller.id ? own : undefined
  if (named !== own && (userId === caller.id || typeof named !== 'string'))
    throw new ArgumentException('The tenant must be that of your request.', 'tenant')
  return requireTenantId(String(named))
}

function toEvaluation(key: string, { value, source }: Resolution): Static<typeof Evaluation> {
  return { key, value, reason: reasons[source] }
}

/** Encrypted with a key that is not configured, or before the setting became a flag. */
function unreadable(key: string): Static<typeof Failure> {
  return { key, errorCode: 'GENERAL', errorDetails: 'The flag cannot be read.' }
}

/** A failure as the clients of the protocol understand it. */
class EvaluationException extends DomainException {}

function toFailure(error: unknown, { params }: FastifyRequest): unknown {
  const problem = problemOfError(error)
  if ([401, 403, 429].includes(problem.status)) return error
  const { code, title, detail, extensions } = problem.status < 500 ? problem : problemOfStatus(500)
  const [statusCode, errorCode] = outcomeOf(problem)
  return new EvaluationException(detail, {
    statusCode,
    code,
    title,
    extensions: { ...extensions, ...(params as object), errorCode, errorDetails: detail },
    ...(problem.headers && { headers: problem.headers }), // such as Retry-After
    cause: error,
  })
}

function outcomeOf({ status, code }: Problem): readonly [statusCode: number, errorCode: string] {
  if (status >= 500) return [500, 'GENERAL']
  if (status === 404) return [404, 'FLAG_NOT_FOUND']
  return [400, code === 'VALIDATION' || code === 'ARGUMENT' ? 'INVALID_CONTEXT' : 'PARSE_ERROR']
}
