/** Tries how the gate answers callers of a route: through the real router and the hooks before the gate. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '@fastify-modular/core'
import type { FastifyInstance } from 'fastify'
import type { Fact } from '../access/permissions.ts'
import type { Decision } from '../gate/decision.ts'
import { judge } from '../gate/gate.ts'
import type { Route, RouteTable } from '../gate/routes.ts'
import type { RoutePattern } from '../matching/route-pattern.ts'
import { sendProbe } from './probes.ts'
import type { AccessRow } from './table.ts'

/** What the gate does: it lets the request in, needs a known caller (401), or misses a permission (403). */
export type AttemptOutcome = 'let in' | 'sign in' | 'forbidden'

/** Values for a route that cannot be tried without them: one text for all parameters with a regular expression, or one for each by its name. */
export type Sample =
  | string
  | {
      readonly params?: Readonly<Record<string, string>>
      readonly headers?: Readonly<Record<string, string>>
    }

interface Tried {
  /** For each of up to three paths that lead to the route the outcomes of the callers, in their order. */
  readonly outcomes: readonly (readonly AttemptOutcome[])[]
  /** Why there is none: `answered with status 500 before the gate`. */
  readonly fault: string
}

/** What `expectAccess` needs beside what applications see. */
export interface Review {
  /** Tries a route with each of these callers; no handler runs. */
  attempt(
    route: Pick<AccessRow, 'method' | 'url' | 'constraints'>,
    callers: readonly (Caller | null)[],
    sample?: Sample,
  ): Promise<Tried>
  /** What opens something and is no route or rule. */
  facts(): Promise<readonly Fact[]>
}

/** Where the application keeps it. */
export const reviewDecorator = Symbol.for('@fastify-modular/public-routes/review')

const maxPaths = 3

export function createAttempt(app: FastifyInstance, routes: RouteTable): Review['attempt'] {
  return async function attempt({ method, url, constraints }, callers, sample = {}) {
    const route = routes.all.find(
      (each) => each.url === url && each.methods.includes(method) && each.constraintsText === constraints,
    )
    const outcomes: (readonly AttemptOutcome[])[] = []
    let fault = 'its URL has a regular expression: give it a sample'
    for (const target of route === undefined ? [] : targetsOf(route, sample)) {
      const outcome = await sendProbe(app, { method, target, headers: headersFor(route, sample) })
      if (!outcome.reached) fault = `${target} was answered with status ${outcome.status} before the gate`
      else if (routes.of(outcome.request) !== route)
        fault = `${target} leads to another route: give it a sample`
      else outcomes.push(callers.map((caller) => outcomeOf(outcome.decision, caller)))
      if (outcomes.length === maxPaths) break
    }
    return { outcomes, fault }
  }
}

function outcomeOf(decision: Decision, caller: Caller | null): AttemptOutcome {
  const outcome = judge(decision, caller)
  return typeof outcome === 'string' ? outcome : 'forbidden'
}

/** What parameters commonly hold; another route may stand in the way of one of them. */
const commonValues = ['42', 'sample', '3f2504e0-4f89-41d3-9a0c-0305e82c3301', 'a.b', '2024', 'a']

/** None where a parameter with a regular expression has no sample. */
function targetsOf({ patterns }: Route, sample: Sample): readonly string[] {
  const fill = (part: RoutePattern[number], value: string): string | undefined => {
    if (typeof part === 'string') return part
    const given = typeof sample === 'string' ? part.expression && sample : sample.params?.[part.param]
    return given ?? (part.expression === undefined ? value : undefined)
  }
  const targets = patterns.flatMap((pattern) =>
    commonValues.flatMap((value) => {
      const texts = pattern.map((part) => fill(part, value))
      return texts.includes(undefined) ? [] : texts.join('').replace(/[^\x21-\x7e]+/g, encodeURIComponent)
    }),
  )
  return [...new Set(targets)]
}

/** Headers by which the router chooses a route with the constraints that Fastify knows. */
function headersFor(route: Route | undefined, sample: Sample): IncomingHttpHeaders {
  const { version, host } = route?.constraints ?? {}
  return {
    ...(typeof version === 'string' && { 'accept-version': version }),
    ...(typeof host === 'string' && { host }),
    ...(typeof sample === 'object' && sample.headers),
  }
}
