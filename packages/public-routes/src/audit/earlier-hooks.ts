/** Which onRequest hooks run before the gate on some route, read from Fastify's own route table. */
import type { FastifyInstance } from 'fastify'

/** Hook names in the order they run; `anonymous` for those without one. Complete after Fastify has bound the hooks. */
export function earlierHooks(app: FastifyInstance, gateName: string): readonly string[] {
  const names = new Set<string>()
  const table = app.printRoutes({ includeHooks: true, commonPrefix: false })
  for (const [, list = '[]'] of table.matchAll(/• \(onRequest\) (\[.*\])$/gm)) {
    for (const hook of hookNames(list)) {
      if (hook === gateName) break
      names.add(hook)
    }
  }
  return [...names]
}

function hookNames(list: string): readonly string[] {
  const parsed: unknown = JSON.parse(list)
  return Array.isArray(parsed) ? parsed.map((name) => String(name).replace(/\(\)$/, '')) : []
}
