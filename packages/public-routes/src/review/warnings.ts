/** Warnings about rules: in the log at boot, and beside each route in the table of access. */
import { type Policies, type RuleForRoute } from '../gate/policy.ts'
import type { Route } from '../gate/routes.ts'
import { environmentVariable } from '../initial-rules.ts'
import { literalHead, literalTail } from '../matching/route-pattern.ts'
import { frameworkDefault, nameOfRule, type RegisteredRule } from '../rules.ts'

/** A warning and the rules it is about. The framework's own rules give none, because the application did not write them. */
export interface Warning {
  readonly message: string
  readonly rules: readonly string[]
}

interface WarningOfRoute {
  readonly rule: RegisteredRule
  readonly message: string
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
export function warningsOfRoute(route: Route, method: string, policies: Policies): readonly WarningOfRoute[] {
  const declared = route.declared(method)
  const found = policies.rulesFor(route, method).filter(({ rule }) => rule.source !== frameworkDefault)
  if (declared?.by === 'route' && declared.requirement.kind !== 'public') {
    const certain = found.filter(({ rule, reach }) => reach === 'every path' || rule.route.kind !== 'regex')
    return certain.map(({ rule }) => ({ rule, message: overruledMessage }))
  }
  return Object.entries(aboutRoutes).flatMap(([message, applies]) =>
    found.filter((each) => applies(each, route, method)).map(({ rule }) => ({ rule, message })),
  )
}

/** All of them, each with the rules it is about. */
export function findWarnings(
  rules: readonly RegisteredRule[],
  routes: readonly Route[],
  policies: Policies,
): readonly Warning[] {
  const own = rules.filter(({ source }) => source !== frameworkDefault)
  const methodsOf = (route: Route) => route.methods.filter((method) => method !== 'HEAD' || !route.followsGet)
  const ofRoutes = routes.flatMap((route) =>
    methodsOf(route).flatMap((method) =>
      warningsOfRoute(route, method, policies).map((each) => ({ ...each, name: `${method} ${route.url}` })),
    ),
  )
  const used = new Set(
    routes.flatMap((route) =>
      route.methods.flatMap((method) => policies.rulesFor(route, method).map(({ rule }) => rule)),
    ),
  )
  const about = (message: string, list: readonly RegisteredRule[]): Warning => ({
    message,
    rules: [...new Set(list.map(nameOfRule))],
  })
  return [
    ...Object.keys(aboutRoutes).map((message) =>
      about(
        message,
        ofRoutes.flatMap((each) => (each.message === message ? [each.rule] : [])),
      ),
    ),
    {
      message: overruledMessage,
      rules: ofRoutes.flatMap(({ message, rule, name }) =>
        message === overruledMessage ? [`${nameOfRule(rule)} against ${name}`] : [],
      ),
    },
    about(
      'public-route rules match no route',
      own.filter((rule) => !used.has(rule)),
    ),
    about('public-route rules add nothing to earlier or wider rules', shadowed(rules)),
    about(
      'public-route rules come from the environment',
      rules.filter(({ source }) => source.includes(environmentVariable)),
    ),
    about(
      'public-route rules come from the legacy publicPaths of the provider; use rules with methods',
      rules.filter(({ source }) => source === 'provider'),
    ),
  ].filter(({ rules: named }) => named.length > 0)
}

function crossesSegment({ rule: { route: rule } }: RuleForRoute, route: Route): boolean {
  if (rule.kind !== 'prefix' || rule.pattern.endsWith('/')) return false
  const ends = route.patterns.map((pattern) => literalHead(pattern).charAt(rule.pattern.length))
  return ends.some((next) => next !== '' && next !== '/')
}

/** A prefix that ends inside a parameter, a suffix that a parameter's value can be. */
function matchesParameter({ rule: { route: rule } }: RuleForRoute, route: Route): boolean {
  if (route.path !== null) return false
  if (rule.kind === 'suffix') {
    return !route.patterns.every((pattern) => literalTail(pattern).endsWith(rule.pattern))
  }
  return (
    rule.kind === 'prefix' &&
    route.patterns.every((pattern) => literalHead(pattern).length < rule.pattern.length)
  )
}

/** Rules that repeat an earlier one, or that a wider prefix or subtree covers. */
function shadowed(rules: readonly RegisteredRule[]): readonly RegisteredRule[] {
  const wide = new Map<string, RegisteredRule[]>()
  for (const rule of rules) {
    const { kind, literal } = rule.route
    if (kind === 'prefix' || kind === 'subtree') wide.set(literal, [...(wide.get(literal) ?? []), rule])
  }
  const seen = new Map<string, RegisteredRule>()
  return rules.filter((rule) => {
    const { kind, pattern, methods } = rule.route
    const name = `${kind} ${pattern}`
    const earlier = seen.get(name)
    seen.set(name, earlier ?? rule)
    if (earlier !== undefined) return coversMethods(earlier.route.methods, methods)
    for (let length = 1; length <= pattern.length; length++) {
      const wider = wide.get(pattern.slice(0, length))
      if (wider?.some((other) => other !== rule && covers(other, rule)) === true) return true
    }
    return false
  })
}

function covers({ route: wider }: RegisteredRule, { route: narrower }: RegisteredRule): boolean {
  const isLiteral = narrower.kind === 'exact' || narrower.kind === 'prefix' || narrower.kind === 'subtree'
  if (!isLiteral || !wider.matchesPath(narrower.pattern)) return false
  if (wider.kind === narrower.kind && wider.pattern === narrower.pattern) return false // a repetition, see above
  if (!coversMethods(wider.methods, narrower.methods)) return false
  // A prefix reaches beyond the segment in which a subtree of the same text ends.
  return (
    wider.kind === 'prefix' || narrower.kind !== 'prefix' || narrower.pattern.length > wider.pattern.length
  )
}

function coversMethods(wider: ReadonlySet<string> | null, narrower: ReadonlySet<string> | null): boolean {
  return wider === null || (narrower !== null && [...narrower].every((method) => wider.has(method)))
}
