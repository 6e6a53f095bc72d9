/** How the gate decides a request, and why: a probe goes through the real router up to the gate. */
import { type IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { canonicalPath, withTimeout } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Decider, readParameters, spellsPath } from '../gate/decide.ts'
import { type RouteRecord, unlisted } from '../gate/route-record.ts'
import type { RouteTable } from '../gate/routes.ts'
import { FMOD_PUBLIC_ROUTES_NOT_READY } from '../misuse-errors.ts'
import type { RegisteredRule, RuleSet } from '../rules.ts'

/** A decision with its reasons. */
export interface Explanation {
  readonly method: string
  readonly target: string
  /** `rejected`: answered before the gate, by the router (a malformed target) or by an earlier hook. */
  readonly decision: 'public' | 'protected' | 'rejected'
  /** One sentence. */
  readonly reason: string
  /** The canonical path that rules are matched with; null where the target has none. */
  readonly path: string | null
  /** The rule that opens the request, or else the one that matches it literally; null where none does. */
  readonly rule: string | null
  /** Where the rule comes from. */
  readonly source: string | null
  /** The URL of the route that the router chose; null where none matches. */
  readonly route: string | null
  /** The status of a rejected request; null otherwise. */
  readonly status: number | null
}

interface ExplainParts {
  readonly probes: Probes
  readonly rules: RuleSet
  readonly routes: RouteTable
  readonly decider: Decider
}

export type Explain = (
  method: string,
  target: string,
  options?: { readonly headers?: IncomingHttpHeaders },
) => Promise<Explanation>

export function createExplain({ probes, rules, routes, decider }: ExplainParts): Explain {
  return async function explain(method, target, options = {}) {
    const about = {
      method,
      target,
      path: canonicalPath(target),
      rule: null,
      source: null,
      route: null,
      status: null,
    }
    // Before the rules freeze, Fastify has not bound the gate to the routes, and would run their handlers.
    if (!rules.isFrozen) throw new FMOD_PUBLIC_ROUTES_NOT_READY(`request ${method} ${target}`)
    const outcome = await probes.send(method, target, options.headers)
    if (!outcome.reached) {
      const reason = `the request was answered with status ${outcome.status} before it reached the gate`
      return { ...about, decision: 'rejected', reason, status: outcome.status }
    }
    return { ...about, ...explainRequest(outcome.request) }
  }

  function explainRequest(request: FastifyRequest) {
    const route = routes.of(request)
    const opening = decider.decide(request, route).rule
    let fault = ''
    const path = canonicalPath(request.raw.url ?? '', (reason) => (fault = reason))
    const rule = opening ?? (path === null ? undefined : findLiteral(request.method, path))
    const found = {
      path,
      rule: rule === undefined ? null : String(rule.route),
      source: rule?.source ?? null,
      route: route?.url ?? null,
    }
    if (opening !== null) {
      const reason = `the rule "${String(opening.route)}" (${opening.source}) opens it`
      return { ...found, decision: 'public' as const, reason }
    }
    const reason =
      path === null ? `the target is not canonical: ${fault}` : whyProtected({ request, route, path })
    return { ...found, decision: 'protected' as const, reason }
  }

  /** Slower than the index and independent of it: a diagnosis should not share the fault that it looks for. */
  function findLiteral(method: string, path: string): RegisteredRule | undefined {
    return rules.rules.find(({ route }) => route.allows(method) && route.matchesPath(path))
  }

  function whyProtected({ request, route, path }: Refused): string {
    const { method } = request
    if (route === unlisted) return 'its route was registered before the gate, and Fastify does not show it'
    if (decider.findRule({ method, path, route }) !== null && !isWitnessed({ request, route, path })) {
      return `the route "${route?.url}" that the router chose does not spell this path`
    }
    const requirement = route?.requirement(method)
    if (route !== null && requirement !== undefined && requirement.kind !== 'public') {
      const source = route.assigned(method)?.source
      return `the ${source ?? `route "${route.url}"`} declares ${requirement.text}`
    }
    const literal = findLiteral(method, path)
    if (literal !== undefined) {
      return literal.route.kind === 'suffix'
        ? `the rule "${String(literal.route)}" matches a parameter's value and not literal text of the route "${route?.url}"`
        : `the rule "${String(literal.route)}" opens another route than "${route?.url ?? 'none'}"`
    }
    const other = rules.rules.find((rule) => rule.route.matchesPath(path))
    return other === undefined
      ? 'no rule matches the path'
      : `the rule "${String(other.route)}" matches the path, but not the method ${method}`
  }
}

/** A protected request whose target is canonical. */
interface Refused {
  readonly request: FastifyRequest
  readonly route: RouteRecord | null
  readonly path: string
}

function isWitnessed({ request, route, path }: Refused): boolean {
  if (route === null) return true
  const values = readParameters(request, route)
  return values !== null && spellsPath(route, { values, path })
}

/** The request as the gate saw it, or the status of an answer before the gate; 0 for no answer at all. */
export type ProbeOutcome =
  | { readonly reached: true; readonly request: FastifyRequest }
  | { readonly reached: false; readonly status: number }

/** How long an earlier hook may take, in milliseconds. */
const patience = 5000

export class Probes {
  readonly #app: FastifyInstance
  readonly #waiting = new Map<IncomingMessage, (request: FastifyRequest) => void>()

  constructor(app: FastifyInstance) {
    this.#app = app
  }

  /** The gate calls it first. Takes the request if it is a probe, and returns whether it did. */
  readonly capture = (request: FastifyRequest, reply: FastifyReply): boolean => {
    if (this.#waiting.size === 0) return false
    const take = this.#waiting.get(request.raw)
    if (take === undefined) return false
    reply.hijack()
    take(request)
    return true
  }

  /** The target is sent as it is, without the normalisation that `inject` does. */
  async send(method: string, target: string, headers: IncomingHttpHeaders = {}): Promise<ProbeOutcome> {
    const incoming = new IncomingMessage(new Socket())
    incoming.method = method
    incoming.url = target
    incoming.headers = { host: 'localhost', ...headers }
    incoming.push(null)
    const outcome = new Promise<ProbeOutcome>((resolve) => {
      this.#waiting.set(incoming, (request) => resolve({ reached: true, request }))
      const response = new ProbeResponse(incoming, (status) => resolve({ reached: false, status }))
      this.#routeSilently(incoming, response)
    })
    try {
      return await withTimeout(outcome, patience, () => ({ reached: false, status: 0 }))
    } finally {
      this.#waiting.delete(incoming)
    }
  }

  /** No client sent the probe: the logger that Fastify derives for it inherits silence, others keep their level. */
  #routeSilently(incoming: IncomingMessage, response: ServerResponse): void {
    const { log } = this.#app
    const { level } = log
    if (typeof level === 'string') log.level = 'silent'
    try {
      this.#app.routing(incoming, response)
    } finally {
      if (typeof level === 'string') log.level = level
    }
  }
}

/** Goes nowhere; passes on the status of an answer before the gate. */
class ProbeResponse extends ServerResponse {
  readonly #answered: (status: number) => void

  constructor(request: IncomingMessage, answered: (status: number) => void) {
    super(request)
    this.#answered = answered
  }

  override end(): this {
    this.#answered(this.statusCode)
    return this
  }
}
