/** Warnings about rules: in the log at boot, and beside each route in the table of access. */
import { mayOpen, type Policies, type RuleForRoute } from '../gate/policy.ts'
import type { Route } from '../gate/routes.ts'
import { environmentVariable } from '../initial-rules.ts'
import { literalHead } from '../matching/route-pattern.ts'
import { frameworkDefault, nameOfRule, type RegisteredRule } from '../rules.ts'

interface Warning {
  readonly rule: RegisteredRule
  readonly message: string
  /** ` against GET /notes`, where the warning is about the route as well; empty otherwise. */
  readonly name: string
}

const mutating = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

type Applies = (found: RuleForRoute, route: Route, method: string) => boolean

/** About a rule and a method of a route that it may open, in the order of their weight. */
const aboutRoutes: Readonly<Record<string, Applies>> = {
  'public-route rules without methods can open routes that change something': ({ rule }, _, method) =>
    rule.route.methods === null && mutating.has(method),
  'public-route prefixes open paths beyond a segment boundary; addSubtree does not': crossesSegment,
  'public-route rules match values of parameters; addRoute does not': matchesParameter,
}

const overruledMessage =
  'routes declare more than public-route rules that match them: the declarations hold, and the rules do not open these routes'

/** What a reviewer should look at, for a method of a route. */
export function warningsOfRoute(route: Route, method: string, policies: Policies): readonly Warning[] {
  const declared = route.declared(method)
  const found = policies.rulesFor(route, method).filter(({ rule }) => rule.source !== frameworkDefault)
  if (declared?.by === 'route' && declared.requirement.kind !== 'public') {
    const certain = found.filter(({ rule, reach }) => reach === 'every path' || rule.route.kind !== 'regex')
    const name = ` against ${method} ${route.url}`
    return certain.map(({ rule }) => ({ rule, message: overruledMessage, name }))
  }
  return Object.entries(aboutRoutes).flatMap(([message, applies]) =>
    found.filter((each) => applies(each, route, method)).map(({ rule }) => ({ rule, message, name: '' })),
  )
}

/** All of them, each with the rules it is about; the framework's own give none, because the application did not write them. */
export function findWarnings(
  rules: readonly RegisteredRule[],
  routes: readonly Route[],
  policies: Policies,
): readonly { readonly message: string; readonly rules: readonly string[] }[] {
  const own = rules.filter(({ source }) => source !== frameworkDefault)
  const places = routes.flatMap((route) =>
    route.methods.map((method) => ({ route, method, found: policies.rulesFor(route, method) })),
  )
  const used = new Set(places.flatMap(({ found }) => found.map(({ rule }) => rule)))
  const shadowed = findShadowed(own, places)
  const aboutRules: Readonly<Record<string, (rule: RegisteredRule) => boolean>> = {
    'public-route rules match no route': (rule) => !used.has(rule),
    'public-route rules take "*" literally; addSubtree does what is meant': ({ route: { kind, pattern } }) =>
      kind !== 'regex' && kind !== 'route' && pattern.includes('*'),
    'public-route rules add nothing to others': (rule) => shadowed.has(rule),
    'public-route rules come from the environment': ({ source }) => source.includes(environmentVariable),
    'public-route rules come from the legacy publicPaths of the provider; use rules with methods': (rule) =>
      rule.source === 'provider',
  }
  const warnings = [
    ...places.flatMap(({ route, method }) =>
      method === 'HEAD' && route.followsGet ? [] : warningsOfRoute(route, method, policies),
    ),
    ...Object.entries(aboutRules).flatMap(([message, applies]) =>
      own.filter(applies).map((rule) => ({ rule, message, name: '' })),
    ),
  ]
  const byMessage = new Map<string, Set<string>>()
  for (const { message, rule, name } of warnings)
    byMessage.set(message, (byMessage.get(message) ?? new Set()).add(`${nameOfRule(rule)}${name}`))
  return Array.from(byMessage, ([message, named]) => ({ message, rules: [...named] }))
}

function crossesSegment({ rule: { route: rule } }: RuleForRoute, route: Route): boolean {
  if (rule.kind !== 'prefix' || rule.pattern.endsWith('/')) return false
  const ends = route.patterns.map((pattern) => literalHead(pattern).charAt(rule.pattern.length))
  return ends.some((next) => next !== '' && next !== '/')
}

/** A prefix that ends inside a parameter, a suffix that a parameter's value can be. */
function matchesParameter({ rule, reach }: RuleForRoute, { path }: Route): boolean {
  const { kind } = rule.route
  return path === null && reach === 'some paths' && (kind === 'prefix' || kind === 'suffix')
}

interface Place {
  readonly route: Route
  readonly method: string
  /** The rules that may open paths of the route. */
  readonly found: readonly RuleForRoute[]
}

/** Rules that could go: wherever they open something, another opens every path or is equal. Of two such the second could. */
function findShadowed(
  rules: readonly RegisteredRule[],
  places: readonly Place[],
): ReadonlySet<RegisteredRule> {
  const opened = places.map(({ route, method, found }) =>
    found.filter(({ rule }) => mayOpen(rule, route.declared(method))),
  )
  const shadowed = new Set<RegisteredRule>()
  for (const rule of rules.toReversed()) {
    const around = opened.filter((open) => open.some((each) => each.rule === rule))
    const covers = ({ rule: other, reach }: RuleForRoute): boolean =>
      other !== rule &&
      !shadowed.has(other) &&
      (reach === 'every path' || String(other.route) === String(rule.route))
    if (around.length > 0 && around.every((open) => open.some(covers))) shadowed.add(rule)
  }
  return shadowed
}
