/** Failures on request, to see what becomes of them. Never part of an application in production. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  ArgumentException,
  ConflictException,
  defineModule,
  ForbiddenException,
  NotFoundException,
  ValidationException,
} from '@fastify-modular/core'
import { problemResponses } from '@fastify-modular/errors'
import { Type } from '@sinclair/typebox'

const faults = {
  none: () => null,
  validation: () => new ValidationException({ name: ['is required'] }),
  argument: () => new ArgumentException('The argument cannot be used.', 'name'),
  'not-found': () => new NotFoundException('Fault', 42),
  forbidden: () => new ForbiddenException(),
  conflict: () => new ConflictException(),
  unknown: () => new Error('Something that nobody foresaw'),
} as const

type Fault = keyof typeof faults
const names = Object.keys(faults) as Fault[]

const faultRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/api/faults/:fault',
    {
      schema: {
        tags: ['faults'],
        operationId: 'fail',
        summary: 'Fail in a given way',
        response: {
          204: Type.Null({ description: 'Nothing failed' }),
          ...problemResponses(app, 400, 401, 403, 404, 409, 500),
        },
        params: Type.Object({ fault: Type.Union(names.map((name) => Type.Literal(name))) }),
      },
    },
    (request, reply) => {
      const failure = faults[request.params.fault]()
      if (failure !== null) throw failure
      return reply.code(204).send(null)
    },
  )
}

export const faultsModule = defineModule({ name: 'faults', access: 'signed-in', plugin: faultRoutes })
