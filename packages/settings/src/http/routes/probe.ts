/** `POST /resources/{name}/probe`: tries values before they are saved. */
import { Type } from '@sinclair/typebox'
import { updatePermission } from '../../visibility.ts'
import { callerOf, writeOptionsOf } from '../access.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../operation.ts'
import { nullable, Value } from '../schemas.ts'

export function addProbeRoute({ app, service: { probes } }: RouteContext): void {
  app.addHook('preClose', () => probes.close())
  app.post(
    '/resources/:name/probe',
    operation({
      operationId: 'probeSettingResource',
      summary: 'Test a resource with values that are not saved',
      checkedByHandler: updatePermission,
      tooMany: 'The caller, or all callers together, test too much',
      params: Type.Object({ name: Type.String({ description: 'the name of a resource' }) }),
      body: Type.Record(Type.String(), Value, { description: 'an object with values by key' }),
      ok: Type.Object({
        ok: Type.Boolean(),
        message: nullable(Type.String({ description: 'what the resource says' })),
        requestId: nullable(Type.String({ description: 'names the log lines of a test that failed' })),
      }),
    }),
    async (request, reply) => {
      const caller = new AbortController()
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) caller.abort(new Error('The caller has left.'))
      })
      const { ok, message } = await probes.probe(request.params.name, {
        caller: callerOf(request),
        drafts: request.body,
        options: writeOptionsOf(request),
        log: request.log,
        signal: caller.signal,
      })
      const isNamed = ok || message !== null
      return {
        ok,
        message: isNamed ? message : 'The test failed.',
        requestId: isNamed ? null : String(request.id),
      }
    },
  )
}
