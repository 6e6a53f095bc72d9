/** The registry of public routes: what modules, plugins and the host declare reachable without a session (S 5.5). */
import { branded, mountingModule } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { FMOD_PUBLIC_ROUTES_FROZEN, FMOD_PUBLIC_ROUTES_INVALID_RULE } from './misuse-errors.ts'
import { isPublicRoute, PublicRoute, type Methods, type PublicRouteOptions } from './rule.ts'
import type { RegisteredRule } from './rules.ts'

/** Options that every helper takes. */
export interface RuleOptions {
  readonly methods?: Methods | undefined
  /** Puts the prefix of the plugin that adds the rule in front of the pattern; paths are absolute otherwise. */
  readonly prefixed?: boolean | undefined
}

/**
 * Adds rules in the name of one contributor. Every helper returns the registry, so that calls chain; each throws the
 * misuse errors of `PublicRoute`, and FMOD_PUBLIC_ROUTES_FROZEN once the application is ready.
 */
export class PublicRouteRegistry {
  readonly #rules: RegisteredRule[]
  readonly #source: string
  readonly #prefix: string
  readonly #module: () => string | undefined

  /**
   * `source` names the contributor in explanations, `module` the module that adds a rule now. Without `rules` the registry
   * has a list of its own.
   */
  constructor(
    rules: RegisteredRule[] = [],
    source = 'application',
    prefix = '',
    module: () => string | undefined = () => undefined,
  ) {
    this.#rules = rules
    this.#source = source
    this.#prefix = prefix
    this.#module = module
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

  /** Opens the Fastify route that was registered with this URL: `/items/:id`. */
  addRoute(url: string, options?: RuleOptions): this {
    return this.add(url, { ...options, kind: 'route' })
  }

  /**
   * The general form: a prebuilt PublicRoute, or a pattern with `methods` and `kind` (a string is a prefix rule).
   * @throws {FMOD_PUBLIC_ROUTES_INVALID_RULE} options beside a prebuilt PublicRoute
   */
  add(routeOrPattern: PublicRoute | string | RegExp, options: PublicRouteOptions & RuleOptions = {}): this {
    const { prefixed, ...ruleOptions } = options
    if (isPublicRoute(routeOrPattern)) {
      if (Object.values(options).some((value) => value !== undefined)) {
        const fault = 'options beside a prebuilt PublicRoute have no effect; put methods and kind into it'
        throw new FMOD_PUBLIC_ROUTES_INVALID_RULE(String(routeOrPattern), fault)
      }
      return this.#addRule(routeOrPattern)
    }
    const pattern = prefixed === true ? this.#withPrefix(routeOrPattern, ruleOptions) : routeOrPattern
    return this.#addRule(new PublicRoute(pattern, ruleOptions))
  }

  /**
   * Whether a rule matches these texts literally: startsWith, ===, endsWith, a regular expression from the start. It decides
   * nothing about a request, whose target may be spelled in other ways and for which HEAD follows GET: use
   * `request.admission` in hooks, `explain` in tests.
   */
  matches(method: string, path: string): boolean {
    const verb = method.toUpperCase()
    return this.#rules.some(({ route }) => route.allows(verb) && route.matchesPath(path))
  }

  /** All rules with their sources, in the order they were added. */
  list(): readonly RegisteredRule[] {
    return [...this.#rules]
  }

  #addRule(route: PublicRoute): this {
    if (Object.isFrozen(this.#rules)) throw new FMOD_PUBLIC_ROUTES_FROZEN(String(route))
    const module = this.#module()
    this.#rules.push(Object.freeze({ route, source: this.#source, ...(module !== undefined && { module }) }))
    return this
  }

  #withPrefix(pattern: string | RegExp, { kind = 'prefix' }: PublicRouteOptions): string {
    if (typeof pattern !== 'string' || kind === 'regex' || kind === 'suffix') {
      throw new FMOD_PUBLIC_ROUTES_INVALID_RULE(
        JSON.stringify(String(pattern)),
        `a ${kind} rule does not begin where a plugin's prefix ends; leave out "prefixed"`,
      )
    }
    return (pattern.startsWith('/') ? this.#prefix.replace(/\/$/, '') : this.#prefix) + pattern // as Fastify joins them
  }
}

/** Decorates the application; each scope gets a registry that names it as the source of its rules. */
export function decorateRegistry(
  app: FastifyInstance,
  rules: RegisteredRule[],
  nameOf: (scope: FastifyInstance) => string,
): void {
  const registries = new WeakMap<FastifyInstance, PublicRouteRegistry>()
  app.decorate('publicRoutes', {
    getter(this: FastifyInstance) {
      const known = registries.get(this)
      if (known !== undefined) return known
      const registry = branded(
        new PublicRouteRegistry(rules, nameOf(this), this.prefix, () => mountingModule(this)),
      )
      registries.set(this, registry)
      return registry
    },
  })
}
