/** The built files: scripts, style sheet and texts, whose names change with their content. */
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { acceptedEncoding, addVary } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { errorCodes } from './misuse-errors.ts'
import { themeCss } from './theme.ts'

/** Names of files that documents mention. */
export interface Assets {
  readonly script: string
  readonly style: string
  /** Texts by language. */
  readonly texts: ReadonlyMap<string, string>
  /** All files of the folder. */
  readonly names: ReadonlySet<string>
}

/** Where the build leaves its files, each beside itself compressed. */
const built = new URL('./public/', import.meta.url)

/** @throws {FMOD_SETTINGS_UI_NOT_BUILT} a file is missing */
export async function findAssets(folder = built): Promise<Assets> {
  const names = await readdir(folder).catch(() => [])
  const find = (pattern: RegExp, name: string): string => {
    const found = names.find((each) => pattern.test(each))
    if (found === undefined) throw new errorCodes.FMOD_SETTINGS_UI_NOT_BUILT(name)
    return found
  }
  const texts = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name.slice(0, 2), name] as const)
  return {
    script: find(/^app\..+\.js$/, 'app.js'),
    style: find(/^app\..+\.css$/, 'app.css'),
    texts: new Map(texts),
    names: new Set(names),
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
export function serveAssets(app: FastifyInstance, css: string, { names }: Assets): void {
  const open = { ...hidden, config: { access: 'public' } }
  // Tokens come from an address that anybody may write: only what is a token gets into the sheet.
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/assets/theme.css', open, (request, reply) =>
    reply
      .headers({
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      })
      .type('text/css; charset=utf-8')
      .send(css + themeCss(request.query)),
  )
  app.get<{ Params: { readonly '*': string } }>('/assets/*', open, async (request, reply) => {
    const name = request.params['*']
    const type = types[name.slice(name.lastIndexOf('.'))]
    if (type === undefined || !names.has(name)) return reply.callNotFound()
    return sendFile(request, reply.type(type), name)
  })
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
}

/** The file, or the one beside it in the encoding that the client accepts. */
async function sendFile(request: FastifyRequest, reply: FastifyReply, name: string): Promise<unknown> {
  const { send } = await import('@fastify/send') // by the first request: at boot it would be a tenth of all that is loaded
  const encoding = acceptedEncoding(request.headers)
  // The others are named in documents of hosts: their names stay when their content changes.
  const isKept = /\.[\w-]{12}\.\w+$/.test(name)
  const path = encoding === undefined ? name : name + (encoding === 'br' ? '.br' : '.gz')
  const { type, statusCode, headers, stream, metadata } = await send(request.raw, `/${path}`, {
    root: fileURLToPath(built),
    contentType: false,
    ...(isKept ? { immutable: true, maxAge: '365d' } : { cacheControl: false }),
  })
  if (type === 'error') throw metadata.error
  addVary(reply, 'Accept-Encoding')
  if (!isKept) reply.header('cache-control', 'no-cache')
  if (encoding !== undefined) reply.header('content-encoding', encoding)
  return reply.code(statusCode).headers(headers).header('x-content-type-options', 'nosniff').send(stream)
}
