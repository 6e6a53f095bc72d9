/** Keeps the anonymous surface of an application under review: a test that fails when a change opens another route. */
import { getDecorator } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { surfaceLines } from '../review/surface.ts'
import { FMOD_PUBLIC_ROUTES_SURFACE_CHANGED } from '../misuse-errors.ts'
import type { PublicRoutes } from '../review/public-routes.ts'

/**
 * Compares what anonymous callers can reach with an expected list, one line for each method and route:
 * `GET /api/notes/:id/share — regex ^/api/notes/[^/]+/share$ (module "notes")`. Order does not matter.
 * @throws {FMOD_PUBLIC_ROUTES_SURFACE_CHANGED} with the lines that appeared (+) and those that are gone (-)
 */
export async function expectPublicRoutes(app: FastifyInstance, expected: readonly string[]): Promise<void> {
  const actual = await publicRouteLines(app)
  const difference = [
    ...actual.filter((line) => !expected.includes(line)).map((line) => `+ ${line}`),
    ...expected.filter((line) => !actual.includes(line)).map((line) => `- ${line}`),
  ]
  if (difference.length > 0) throw new FMOD_PUBLIC_ROUTES_SURFACE_CHANGED(difference.join('\n'))
}

/** The lines that `expectPublicRoutes` compares, sorted: for snapshot tests. */
export async function publicRouteLines(app: FastifyInstance): Promise<readonly string[]> {
  await app.ready()
  return surfaceLines(getDecorator<PublicRoutes>(app, 'publicRoutes').surface())
}
