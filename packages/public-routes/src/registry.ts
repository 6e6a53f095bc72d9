/** The registry of public routes: what modules, plugins and the host declare reachable without a session (S 5.5). */
import { isAbsolute } from 'node:path'
import { FMOD_CORE_ADDED_LATE } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { errorCodes } from './misuse-errors.ts'
import { isPublicRoute, PublicRoute, type PublicRouteOptions, type RegisteredRule } from './rule.ts'

/** What every helper takes. */
type RuleOptions = Pick<PublicRouteOptions, 'methods'>

/**
 * Adds rules in the name of one contributor. Every helper returns the registry, so that calls chain; each throws the
 * misuse errors of `PublicRoute`, and FMOD_CORE_ADDED_LATE once the application is ready.
 */
export class PublicRouteRegistry {
  readonly #rules: RegisteredRule[]
  readonly #source: string
  readonly #moduleNow: () => string | undefined

  /** Without `rules` the registry has a list of its own. `source` names the contributor in explanations. */
  constructor(
    rules: RegisteredRule[] = [],
    source = 'application',
    moduleNow: () => string | undefined = () => undefined,
  ) {
    this.#rules = rules
    this.#source = source
    this.#moduleNow = moduleNow
  }

  /** Matches when the path starts with `pattern`, also beyond a segment: `/doc` matches `/doctors`. */
  addPrefix(pattern: string, options?: RuleOptions): this {
    return this.add(pattern, { ...options, kind: 'prefix' })
  }

  /** Matches when the path equals `pattern`: a single endpoint. */
  addExact(pattern: string, options?: RuleOptions): this {
    return this.add(pattern, { ...options, kind: 'exact' })
  }

  /** Matches when the path ends with `pattern`: an ending that several resources share. */
  addSuffix(pattern: string, options?: RuleOptions): this {
    return this.add(pattern, { ...options, kind: 'suffix' })
  }

  /** Matches when the expression does at the start of the path; end it with `$` to exclude longer paths. */
  addRegex(pattern: string | RegExp, options?: RuleOptions): this {
    return this.add(pattern, { ...options, kind: 'regex' })
  }

  /** Matches `pattern` itself and everything below it: `/docs` and `/docs/intro`, never `/docs-internal`. */
  addSubtree(pattern: string, options?: RuleOptions): this {
    return this.add(pattern, { ...options, kind: 'subtree' })
  }

  /**
   * The general form: a prebuilt PublicRoute, or a pattern with `methods` and `kind` (a string is a prefix rule).
   * @throws {FMOD_PUBLIC_ROUTES_INVALID_RULE} options beside a prebuilt PublicRoute
   */
  add(routeOrPattern: PublicRoute | string | RegExp, options: PublicRouteOptions = {}): this {
    if (!isPublicRoute(routeOrPattern)) return this.#addRule(new PublicRoute(routeOrPattern, options))
    if (Object.values(options).some((value) => value !== undefined)) {
      const fault = 'options beside a prebuilt PublicRoute have no effect; put methods and kind into it'
      throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_RULE(String(routeOrPattern), fault)
    }
    return this.#addRule(routeOrPattern)
  }

  /**
   * Whether a rule matches these texts literally: startsWith, ===, endsWith, a regular expression from the start. It decides
   * nothing about a request, whose target may be spelled in other ways and for which HEAD follows GET: use
   * `request.admission` in hooks, `explain` in tests.
   */
  matches(method: string, path: string): boolean {
    return this.#rules.some(({ route }) => route.matches(method, path))
  }

  /** All rules with their sources, in the order they were added. */
  list(): readonly RegisteredRule[] {
    return [...this.#rules]
  }

  #addRule(route: PublicRoute): this {
    if (Object.isFrozen(this.#rules))
      throw new FMOD_CORE_ADDED_LATE(`The public-route rule ${String(route)}`, 'rules while plugins register')
    const module = this.#moduleNow()
    this.#rules.push(Object.freeze({ route, source: this.#source, ...(module !== undefined && { module }) }))
    return this
  }
}

/** `plugin blog`, `plugin /app/blog.js`, or `application` for the root; a plugin without a name is called by its prefix. */
export function scopeName(scope: FastifyInstance): string {
  if (Object.getPrototypeOf(scope) === Object.prototype) return 'application'
  const [name = ''] = scope.pluginName.split(' -> ') // its own name, then those of plugins that share the scope
  const isUsable = isAbsolute(name) || (/^[\w@./ -]{1,80}$/.test(name) && !unnamed.has(name))
  return isUsable ? `plugin ${name}` : `plugin at ${scope.prefix || '/'}`
}

/** What @fastify/autoload and transpilers call every plugin of theirs. */
const unnamed: ReadonlySet<string> = new Set(['composedPlugin', 'default', 'anonymous'])
