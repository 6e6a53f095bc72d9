/** The code of docs/guides/observability.md, run. */
import { defineEvent, events, type EventTracing } from '@fastify-modular/core'
import { eventsOf, injectAs, enableTestCallers } from '@fastify-modular/core/testing'
import { errors } from '@fastify-modular/errors'
import { publicRoutes } from '@fastify-modular/public-routes'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import { writeGuideCode } from '@fastify-modular/test-support/guide-code'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyPluginAsync } from 'fastify'
import { test } from 'tap'

const guide = new URL('../../../../docs/guides/observability.md', import.meta.url)
const [auditCode = '', metricsCode = '', tracingCode = ''] = writeGuideCode(
  guide,
  new URL('./code/', import.meta.url),
)
const { audit } = (await import(auditCode)) as { audit: FastifyPluginAsync }
const { metrics } = (await import(metricsCode)) as { metrics: FastifyPluginAsync }
const { tracing } = (await import(tracingCode)) as { tracing: EventTracing }

class Shared extends defineEvent('notes.shared', Type.Object({ count: Type.Integer() })) {}

const title = setting.text('app.title', {
  displayName: 'Title',
  scope: SettingScope.Application,
  default: 'Notes',
})
const admin = { id: 'ada', isAdmin: true }

test('the audit plugin logs who changed which setting, without the value, until the application closes', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: { stream: { write: (line: string) => void lines.push(line) } } })
  await app.register(audit)
  await app.register(settings, { definitions: [title], store: memoryStore(), routes: false })
  await app.settings.set('app.title', 'Secret plans', {
    actor: 'ada',
  })
  const audited = lines.map((line) => JSON.parse(line) as object).filter((record) => 'audit' in record)
  t.match(audited, [
    { audit: 'setting.change', actor: 'ada', change: 'create', key: 'app.title', revision: 1 },
  ])
  t.notMatch(lines.join(''), /Secret plans/)
  await app.close()

  const other = Fastify()
  await other.register(settings, { definitions: [title], store: memoryStore(), routes: false })
  await other.settings.set('app.title', 'x')
  await other.close()
  t.equal(lines.filter((line) => line.includes('setting.change')).length, 1)
})

test('the metrics plugin serves failures by route and the counters of settings and events', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  enableTestCallers(app)
  await app.register(errors)
  await app.register(publicRoutes, {
    provider: { authenticate: () => null },
    permissions: { 'Ops.Read': 'Read metrics' },
  })
  await app.register(events, {
    handlers: [
      class ShareHandler {
        static event = Shared
        handle(): void {}
      },
    ],
  })
  await app.register(settings, { definitions: [title], store: memoryStore() })
  await app.register(metrics)
  app.get('/broken/:id', { config: { access: 'public' } }, async () => {
    throw new Error('broken')
  })
  const record = eventsOf(app)
  await app.ready()
  await app.events.publish(new Shared({ count: 1 }))
  await record.waitFor('app.ShareHandler')
  await app.settings.set('app.title', 'Acme')
  await app.inject('/broken/7')

  t.equal((await app.inject('/metrics')).statusCode, 401)
  const { statusCode, headers, body } = await injectAs(app, admin, '/metrics')
  t.equal(statusCode, 200)
  t.match(headers['content-type'], /^text\/plain/)
  for (const line of [
    'app_failures_total{status="500",source="handler",route="/broken/:id"} 1',
    'app_events_total{what="handled"} 1',
    'app_settings_total{what="writes"} 1',
  ]) {
    t.ok(body.includes(`${line}\n`), line)
  }
  t.match(body, /^app_settings_age_seconds \d/m)
  t.notMatch(body, /Acme|\/broken\/7/)
})

test('the tracing of the guide makes the span of a handler a child of the publisher, and marks failures', async (t) => {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  provider.register()
  t.teardown(() => provider.shutdown())
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(events, {
    tracing,
    handlers: [
      class ShareHandler {
        static event = Shared
        async handle({ count }: Shared): Promise<void> {
          if (count === 2) throw new Error('no')
        }
      },
    ],
  })
  await app.ready()
  await trace.getTracer('test').startActiveSpan('request', async (span) => {
    await app.events.publish(new Shared({ count: 1 }))
    await app.events.publish(new Shared({ count: 2 }))
    span.end()
  })
  await app.close() // waits for the handlers
  const spans = exporter.getFinishedSpans()
  const request = spans.find(({ name }) => name === 'request')
  const handled = spans.filter(({ name }) => name === 'process notes.shared')
  t.equal(handled.length, 2)
  t.ok(handled.every((span) => span.parentSpanContext?.spanId === request?.spanContext().spanId))
  t.same(
    new Set(handled.map(({ status }) => status.code)),
    new Set([SpanStatusCode.UNSET, SpanStatusCode.ERROR]),
  )

  tracing.run(
    {
      type: 'notes.shared',
      eventId: 'e',
      handler: 'h',
      attempt: 2,
      link: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
    () => {},
  )
  await new Promise(setImmediate)
  const retried = exporter.getFinishedSpans().at(-1)
  t.equal(retried?.parentSpanContext, undefined)
  t.equal(retried?.links[0]?.context.spanId, 'b7ad6b7169203331')
})

for (const order of ['before the gate', 'after the gate', 'by itself']) {
  test(`@fastify/otel registered ${order} changes neither what the gate protects nor what it logs`, async (t) => {
    const lines: string[] = []
    const write = (line: string) => void lines.push(line)
    const otel = new FastifyOtelInstrumentation({ registerOnInitialization: order === 'by itself' })
    t.teardown(() => otel.disable())
    const app = Fastify({ logger: { level: 'warn', stream: { write } } })
    t.teardown(() => app.close())
    if (order === 'before the gate') await app.register(otel.plugin())
    await app.register(publicRoutes, { provider: { authenticate: () => null } })
    if (order === 'after the gate') await app.register(otel.plugin())
    app.get('/open', { config: { access: 'public' } }, async () => 'ran')
    app.get('/closed', { onRequest: async () => {} }, async () => 'ran')
    await app.ready()
    t.same(lines, [])
    t.equal((await app.inject('/open')).statusCode, 200)
    t.equal((await app.inject('/closed')).statusCode, 401)
  })
}
