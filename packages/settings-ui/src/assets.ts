/** The built files: scripts, style sheet and texts, whose names change with their content. */
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import { FMOD_SETTINGS_UI_NOT_BUILT } from './misuse-errors.ts'
import { themeCss } from './theme.ts'

/** Names of files that documents mention. */
export interface Assets {
  readonly script: string
  readonly style: string
  /** Texts by language, without the English ones, which the script has. */
  readonly texts: ReadonlyMap<string, string>
}

/** Where the build leaves its files, each beside itself compressed. */
const built = new URL('./public/', import.meta.url)

/** @throws {FMOD_SETTINGS_UI_NOT_BUILT} a file is missing */
export async function findAssets(folder = built): Promise<Assets> {
  const names = await readdir(folder).catch(() => [])
  const find = (pattern: RegExp, name: string): string => {
    const found = names.find((each) => pattern.test(each))
    if (found === undefined) throw new FMOD_SETTINGS_UI_NOT_BUILT(name)
    return found
  }
  const texts = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name.slice(0, 2), name] as const)
  return {
    script: find(/^app\..+\.js$/, 'app.js'),
    style: find(/^app\..+\.css$/, 'app.css'),
    texts: new Map(texts),
  }
}

/** The address of the look of a host below `/assets`; undefined without one. Each look has its own, and browsers keep it. */
export function themeAddress(tokens: Readonly<Record<string, string>>, css: string): string | undefined {
  const query = new URLSearchParams(tokens)
  if (css !== '') query.set('css', createHash('sha256').update(css).digest('base64url').slice(0, 12))
  return query.size === 0 ? undefined : `theme.css?${query.toString()}`
}

/** Keeps a route out of OpenAPI documents. */
export const hidden: { readonly schema: FastifySchema & { readonly hide: true } } = { schema: { hide: true } }

/** Routes below `/assets`, for everybody: they hold no secret, and a login page may use the same style sheet. */
export async function serveAssets(app: FastifyInstance, css: string): Promise<void> {
  // Tokens come from an address that anybody may write: only what is a token gets into the sheet.
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(
    '/assets/theme.css',
    { ...hidden, config: { access: 'public' } },
    (request, reply) =>
      reply
        .headers({
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff',
        })
        .type('text/css; charset=utf-8')
        .send(css + themeCss(request.query)),
  )
  // @fastify/static takes no configuration for its route, and the gate wants one.
  const withAccess: FastifyInstance = Object.create(app, {
    route: {
      value: (options: RouteOptions) => app.route({ ...options, config: { access: 'public' } }),
    },
  })
  await fastifyStatic(withAccess, {
    root: built,
    prefix: '/assets/',
    decorateReply: false,
    index: false,
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    setHeaders(reply, path) {
      reply.header('x-content-type-options', 'nosniff')
      // Documents of hosts name this one: its name stays when its content changes.
      if (/[\\/](?:element|close)\.js(?:\.\w+)?$/.test(path)) reply.header('cache-control', 'no-cache')
    },
  })
}
