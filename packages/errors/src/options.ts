/** The options of the plugin, checked before anything starts. */
import { defaultTypeBase } from '@fastify-modular/core/problem'
import { isApiTarget, option, optionProblems, type OptionsSchema, Type } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'
import { FMOD_ERRORS_INVALID_OPTION } from './misuse-errors.ts'
import type { UnmatchedPages } from './negotiate.ts'

export interface ErrorsOptions {
  /** Absolute URI in front of problem types, which are codes in kebab case. @default 'urn:problem:' */
  readonly typeBase?: string
  /**
   * The self-contained HTML file of last resort, read at boot; relative to the working directory. One that cannot be used
   * gives a warning and the package's own page. `false` takes that one.
   * @default 'wwwroot/error.html' where that file exists, the package's own page where not
   */
  readonly errorPage?: string | URL | false
  /**
   * Whether browsers that navigate get pages for thrown errors too. `true` leaves out paths under `/api`; a function
   * decides for itself.
   * @default false
   */
  readonly pagesForBrowsers?: boolean | ((request: FastifyRequest) => boolean)
  /**
   * Which unmatched GET and HEAD requests get the page `Error/404`: `'always'` all but those whose `Accept` prefers JSON
   * by name or rules HTML out; `'browsers'` only those that name `text/html` and prefer it; `false` none, not even visits of the
   * Inertia client, which get the page otherwise. All others get a problem.
   * @default 'always' where the application has `app.inertia` when it is ready, 'browsers' where it has not
   */
  readonly unmatchedPages?: UnmatchedPages
  /** Installs the error handler. @default true */
  readonly errorHandler?: boolean
  /** Installs the not-found handler. @default true */
  readonly notFoundHandler?: boolean
  /**
   * Whether `GET /error/{statusCode}` is served. It answers by that status from 400 to 499, and by 200 for others.
   * @default true where the application has pages: by `pagesForBrowsers`, or `app.inertia` when it is ready
   */
  readonly errorRoutes?: boolean
}

/** The options with their defaults. */
export type ErrorsSettings = Required<
  Omit<ErrorsOptions, 'pagesForBrowsers' | 'unmatchedPages' | 'errorPage' | 'errorRoutes'>
> &
  Pick<ErrorsOptions, 'unmatchedPages' | 'errorPage'> & {
    /** Undefined where the Inertia adapter decides. */
    readonly errorRoutes: boolean | undefined
    readonly pagesForBrowsers: (request: FastifyRequest) => boolean
  }

/**
 * Fills in the defaults.
 * @throws {FMOD_ERRORS_INVALID_OPTION} naming all options that cannot be used
 */
export function resolveOptions(options: ErrorsOptions): ErrorsSettings {
  const problems = optionProblems(schema, options)
  const { typeBase = defaultTypeBase, pagesForBrowsers = false } = options
  if (problems.length > 0) throw new FMOD_ERRORS_INVALID_OPTION(problems.join('; '))
  return {
    ...options,
    typeBase,
    errorHandler: options.errorHandler ?? true,
    notFoundHandler: options.notFoundHandler ?? true,
    errorRoutes: options.errorRoutes ?? (pagesForBrowsers === false ? undefined : true),
    pagesForBrowsers:
      typeof pagesForBrowsers === 'function' ? pagesForBrowsers : pagesForBrowsers ? isOutsideApi : never,
  }
}

const schema: OptionsSchema<ErrorsOptions> = Type.Object({
  typeBase: option.that((value) => typeof value === 'string' && URL.canParse(`${value}x`), 'an absolute URI'),
  errorPage: option.that(isErrorPage, 'a path, a file URL or false'),
  pagesForBrowsers: Type.Union([Type.Boolean(), option.function()], {
    description: 'a boolean or a function of the request',
  }),
  unmatchedPages: option.oneOf('always', 'browsers', false),
  errorHandler: option.boolean(),
  notFoundHandler: option.boolean(),
  errorRoutes: option.boolean(),
})

function isErrorPage(value: unknown): boolean {
  return value === false || typeof value === 'string' || value instanceof URL
}

function isOutsideApi({ url }: FastifyRequest): boolean {
  return !isApiTarget(url)
}

function never(): false {
  return false
}
