/** The options of the plugin, and the schema that checks them. */
import { option, type OptionsSchema, Type } from '@fastify-modular/core/internal'
import type { Pages } from './negotiate.ts'

export interface ErrorsOptions {
  /** Absolute URI in front of problem types, which are codes in kebab case. @default 'urn:problem:' */
  readonly typeBase?: string
  /**
   * Which failures are answered by pages, and whether `GET /error/{statusCode}` is served. `'inertia'`: requests of the Inertia
   * client, and unmatched GET and HEAD requests but those that prefer JSON. `'browsers'`: what browsers navigate to outside
   * `/api` as well; without `app.inertia`, of unmatched requests those that prefer HTML. A function decides wherever a page is
   * possible. `false`: none. What a route throws for the Inertia client is always a page.
   * @default 'inertia' where the application has `app.inertia` when it is ready; else pages for unmatched requests that prefer
   *   HTML or come from the Inertia client
   */
  readonly pages?: Pages
  /**
   * The self-contained HTML file of last resort, read at boot; relative to the working directory. With a mark `{{status}}`,
   * `{{title}}` or `{{message}}` it is also the error page of an application without `app.inertia`. One that cannot be used
   * gives a warning and the package's own page. `false` takes that one.
   * @default 'wwwroot/error.html' where that file exists, the package's own page where not
   */
  readonly errorPage?: string | URL | false
  /** Installs the error handler. @default true */
  readonly errorHandler?: boolean
  /** Installs the not-found handler. @default true */
  readonly notFoundHandler?: boolean
}

export const schema: OptionsSchema<ErrorsOptions> = Type.Object({
  typeBase: option.that((value) => typeof value === 'string' && URL.canParse(`${value}x`), 'an absolute URI'),
  pages: Type.Union([option.oneOf(false, 'inertia', 'browsers'), option.function()], {
    description: "false, 'inertia', 'browsers' or a function of the request",
  }),
  errorPage: option.that(isErrorPage, 'a path, a file URL or false'),
  errorHandler: option.boolean(),
  notFoundHandler: option.boolean(),
})

function isErrorPage(value: unknown): boolean {
  return value === false || typeof value === 'string' || value instanceof URL
}
