/** Keeps the anonymous surface of an application under review: a test that fails when a change opens another route. */
import { getDecorator } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { surfaceLines } from '../review/surface.ts'
import { FMOD_PUBLIC_ROUTES_SURFACE_CHANGED } from '../misuse-errors.ts'
import type { PublicRoutes } from '../review/public-routes.ts'

export interface ExpectPublicRoutesOptions {
  /** Looks at this module alone: at its routes, whatever opens them, and at what its rules open. */
  readonly source?: string
}

/**
 * Compares what anonymous callers can reach with an expected list, one line for each method and route:
 * `GET /api/notes/:id/share — regex ^/api/notes/[^/]+/share$ (module "notes")`. Order does not matter.
 * @throws {FMOD_PUBLIC_ROUTES_SURFACE_CHANGED} with the lines that appeared (+) and those that are gone (-)
 */
export async function expectPublicRoutes(
  app: FastifyInstance,
  expected: readonly string[],
  options: ExpectPublicRoutesOptions = {},
): Promise<void> {
  const actual = await publicRouteLines(app, options)
  const difference = [
    ...actual.filter((line) => !expected.includes(line)).map((line) => `+ ${line}`),
    ...expected.filter((line) => !actual.includes(line)).map((line) => `- ${line}`),
  ]
  if (difference.length > 0) throw new FMOD_PUBLIC_ROUTES_SURFACE_CHANGED(difference.join('\n'))
}

/**
 * The lines that `expectPublicRoutes` compares, sorted: for snapshot tests.
 * @throws {FMOD_PUBLIC_ROUTES_SURFACE_CHANGED} the application has no module of the name that `source` gives
 */
export async function publicRouteLines(
  app: FastifyInstance,
  { source }: ExpectPublicRoutesOptions = {},
): Promise<readonly string[]> {
  await app.ready()
  const surface = getDecorator<PublicRoutes>(app, 'publicRoutes').surface()
  if (source === undefined) return surfaceLines(surface)
  // A misspelt name would never differ from an empty list.
  const modules = app.hasDecorator('modules') ? getDecorator<FastifyInstance['modules']>(app, 'modules') : []
  if (!modules.some(({ name }) => name === source))
    throw new FMOD_PUBLIC_ROUTES_SURFACE_CHANGED(`there is no module "${source}"`)
  return surfaceLines(
    surface.map(({ rule, openings }) => ({
      rule,
      openings: openings.filter(({ record }) => record.origin?.module === source || rule.module === source),
    })),
  )
}
