/** The options of the plugin, and the checks of them at boot. */
import {
  option,
  optionProblems,
  type OptionsSchema,
  refuseOptions,
  safeRead,
  Type,
} from '@fastify-modular/core/internal'
import type { Access } from './access/declaration.ts'
import type { PermissionMap } from './access/permissions.ts'
import type { classifyRequest } from './gate/answers.ts'
import type { CsrfOptions } from './gate/csrf.ts'
import type { AuthProvider } from './provider.ts'

export interface PublicRoutesOptions {
  /** Resolves the caller of a request; `combineProviders([...])` for several. */
  readonly provider: AuthProvider
  /** The framework's own public paths. @default true */
  readonly defaults?: boolean
  /** Where `SM_AUTH_PUBLIC_PATHS` is read; false does not read it. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>> | false
  /**
   * Protects from cross-site request forgery: refuses unsafe requests from pages of other origins, subdomains included, by
   * what browsers say about them, without tokens. Turn it on where sessions are cookies. @default false
   */
  readonly csrf?: boolean | CsrfOptions
  /** Milliseconds that the provider may take; after that protected paths answer 503. @default 5000 */
  readonly timeout?: number
  /** The permissions of the application, beside those of its modules: `{ 'Notes.Edit': 'Edit notes' }`. @default {} */
  readonly permissions?: PermissionMap
  /** Says that the provider means to know callers without credentials, such as a guest. @default false: the boot warns */
  readonly guests?: boolean
  /**
   * Access of routes that do not declare their own, such as those of other plugins, by URL with or without a method:
   * `{ '/api/docs/*': 'public', 'GET /metrics': 'Ops.Read' }`. The URL is the one that the route was registered with;
   * one that ends with a slash and an asterisk stands for the path before it and everything below. The most specific entry
   * counts. Only an entry that names the whole URL of a route may ask less than the module of the route does.
   */
  readonly access?: Readonly<Record<string, Access>>
  /**
   * Routes that nothing declares: `protect` asks for a known caller, `refuse` stops the boot with their names.
   * @default 'protect'
   */
  readonly undeclared?: 'protect' | 'refuse'
  /** Distinguishes browsers, Inertia pages and API clients. @default classifyRequest */
  readonly classify?: typeof classifyRequest
}

const schema: OptionsSchema<PublicRoutesOptions> = Type.Object({
  provider: option.required(
    option.that(
      (provider) => typeof safeRead(provider, 'authenticate') === 'function',
      'an object such as { authenticate(request, signal) { ... } }, which returns the Caller or null',
    ),
  ),
  defaults: option.boolean(),
  env: Type.Union([Type.Literal(false), option.record('')], {
    description: 'false or an object such as process.env',
  }),
  csrf: Type.Union(
    [
      Type.Boolean(),
      Type.Object({
        trustedOrigins: option.names('an array of origins such as "https://app.example.com"'),
        exempt: option.names('an array of paths such as "/webhooks"'),
      } satisfies OptionsSchema<CsrfOptions>['properties']),
    ],
    { description: 'a boolean or an object with trustedOrigins and exempt' },
  ),
  timeout: option.milliseconds(),
  permissions: option.record('an object such as { "Notes.Edit": "Edit notes" }'),
  guests: option.boolean(),
  access: option.record('an object such as { "GET /metrics": "Ops.Read" }'),
  undeclared: option.oneOf('protect', 'refuse'),
  classify: option.function(),
})

/**
 * Checks what TypeScript cannot: options come from JavaScript, too.
 * @throws {FMOD_CORE_INVALID_OPTION} naming all options that cannot be used
 */
export function checkOptions(options: PublicRoutesOptions): void {
  const problems = optionProblems(schema, options)
  if (Object.hasOwn(options, 'access') && options.access === undefined)
    problems.push('access is undefined; leave it out, or correct the name of the constant')
  const loginUrl = safeRead(options.provider, 'loginUrl')
  if (loginUrl !== undefined && !isLoginUrl(loginUrl))
    problems.push('provider.loginUrl must be a path such as "/login" or an absolute http or https URL')
  refuseOptions('the public-routes plugin', problems)
}

function isLoginUrl(url: unknown): boolean {
  if (typeof url !== 'string' || !/^[\x21-\x7e]+$/.test(url)) return false
  // `//host` and `/\host` leave the site in a browser.
  return url.startsWith('/') ? !/^\/[/\\]/.test(url) : /^https?:\/\//.test(url) && URL.canParse(url)
}
