/** What a reviewer would ask about the rules of an application (decision 40). */
import { environmentVariable } from '../env-paths.ts'
import { frameworkDefault } from '../framework-defaults.ts'
import { LiteralTrie } from '../matching/literal-trie.ts'
import { routeConfig, type RegisteredRule } from '../rule-index.ts'
import type { Opening, SurfaceEntry } from './surface.ts'

/** What is odd, and which rules it is about. */
export interface Warning {
  readonly message: string
  readonly rules: readonly string[]
}

const mutating = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** The warnings for a surface, in the order of their weight; framework defaults need no route to be there. */
export function findWarnings(surface: readonly SurfaceEntry[]): readonly Warning[] {
  const all = surface.map(({ rule }) => rule)
  const own = surface.filter(({ rule }) => rule.source !== frameworkDefault)
  return [
    warning(
      'public-route rules without methods open routes that change something',
      own.filter(opensMutations),
    ),
    warning(
      'public-route prefixes open paths beyond a segment boundary; addSubtree does not',
      own.filter(crossesSegment),
    ),
    warning(
      'public-route rules are met by values of parameters; addRoute is not',
      own.filter(isMetByParameter),
    ),
    warning(
      'public-route rules match no route',
      own.filter(({ openings }) => openings.length === 0),
    ),
    warning(
      'public-route rules add nothing to earlier or wider rules',
      shadowed(all.filter(({ source }) => source !== routeConfig)),
    ),
    warning('public-route rules come from the environment', all.filter(isFromEnvironment)),
    warning(
      'public-route rules come from the legacy publicPaths of the provider; use rules with methods',
      all.filter(({ source }) => source === 'provider'),
    ),
  ].filter(({ rules }) => rules.length > 0)
}

function warning(message: string, about: readonly (RegisteredRule | SurfaceEntry)[]): Warning {
  return { message, rules: about.map((entry) => nameOf('rule' in entry ? entry.rule : entry)) }
}

function nameOf({ route, source }: RegisteredRule): string {
  return `${String(route)} (${source})`
}

/** A rule for every method that reaches a route which changes something. */
export function opensMutations({ rule, openings }: SurfaceEntry): boolean {
  return rule.route.methods === null && openings.some(({ method }) => mutating.has(method))
}

function crossesSegment({ rule: { route }, openings }: SurfaceEntry): boolean {
  if (route.kind !== 'prefix' || route.pattern.endsWith('/')) return false
  return openings.some(({ path }) => path.length > route.pattern.length && path[route.pattern.length] !== '/')
}

/** A prefix that ends inside a parameter, a suffix that a parameter's value can be. */
function isMetByParameter({ rule: { route }, openings }: SurfaceEntry): boolean {
  if (route.kind === 'suffix') return openings.some(({ record }) => !record.endsLiterallyWith(route.pattern))
  return route.kind === 'prefix' && openings.some((opening) => endsInsideParameter(route.pattern, opening))
}

function endsInsideParameter(prefix: string, { record }: Opening): boolean {
  return record.patterns.every((pattern) => {
    const [head] = pattern
    return record.path === null && typeof head === 'string' && head.length < prefix.length
  })
}

function isFromEnvironment({ source }: RegisteredRule): boolean {
  return source.includes(environmentVariable)
}

/** Rules that repeat an earlier one, or that a wider prefix or subtree covers. */
function shadowed(rules: readonly RegisteredRule[]): readonly RegisteredRule[] {
  const wide = new LiteralTrie<RegisteredRule>('forward')
  for (const rule of rules) {
    if (rule.route.kind === 'prefix' || rule.route.kind === 'subtree') wide.add(rule.route.literal, rule)
  }
  const seen = new Map<string, RegisteredRule>()
  return rules.filter((rule) => {
    const name = `${rule.route.kind} ${rule.route.pattern}`
    const earlier = seen.get(name)
    seen.set(name, earlier ?? rule)
    if (earlier !== undefined) return coversMethods(earlier.route.methods, rule.route.methods)
    return wide.find(rule.route.pattern, (other) => other !== rule && covers(other, rule)) !== undefined
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
