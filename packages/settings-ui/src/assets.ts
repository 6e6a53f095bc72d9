/** The built script and style sheet, read once and served from memory under names that change with their content. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { acceptedEncoding } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { FMOD_SETTINGS_UI_NOT_BUILT } from './misuse-errors.ts'

/** One file, in the encodings that browsers take. */
export interface Asset {
  /** `app.<hash>.js` */
  readonly name: string
  readonly type: string
  readonly etag: string
  readonly identity: Buffer
  readonly br: Buffer
  readonly gzip: Buffer
}

export interface Assets {
  readonly script: Asset
  readonly style: Asset
}

/**
 * Reads the built files; rules of the host go to the end of the style sheet.
 * @throws {FMOD_SETTINGS_UI_NOT_BUILT} a file is missing
 */
export async function loadAssets(css = '', folder = new URL('./public/', import.meta.url)): Promise<Assets> {
  const [script, style] = await Promise.all([readBuilt(folder, 'app.js'), readBuilt(folder, 'app.css')])
  return {
    script: toAsset('js', 'text/javascript; charset=utf-8', script),
    style: toAsset('css', 'text/css; charset=utf-8', css === '' ? style : await append(style.identity, css)),
  }
}

type Encodings = Pick<Asset, 'identity' | 'br' | 'gzip'>

async function readBuilt(folder: URL, name: string): Promise<Encodings> {
  const read = (file: string) =>
    readFile(new URL(file, folder)).catch(() => Promise.reject(new FMOD_SETTINGS_UI_NOT_BUILT(file)))
  const [identity, br, gz] = await Promise.all([read(name), read(`${name}.br`), read(`${name}.gz`)])
  return { identity, br, gzip: gz }
}

async function append(built: Buffer, css: string): Promise<Encodings> {
  const identity = Buffer.concat([built, Buffer.from(css)])
  const [br, gz] = await Promise.all([promisify(brotliCompress)(identity), promisify(gzip)(identity)])
  return { identity, br, gzip: gz }
}

function toAsset(extension: string, type: string, encodings: Encodings): Asset {
  const hash = createHash('sha256').update(encodings.identity).digest('base64url').slice(0, 12)
  return { name: `app.${hash}.${extension}`, type, etag: `"${hash}"`, ...encodings }
}

/** Answers with an asset in the best encoding that the client takes (RFC 9110, 12.5.3). */
export function sendAsset(asset: Asset, request: FastifyRequest, reply: FastifyReply): void {
  reply
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('etag', asset.etag)
    .header('vary', 'accept-encoding')
    .header('x-content-type-options', 'nosniff')
    .type(asset.type)
  if (request.headers['if-none-match']?.includes(asset.etag)) {
    reply.code(304).send()
    return
  }
  const encoding = acceptedEncoding(request.headers)
  if (encoding) reply.header('content-encoding', encoding)
  reply.send(asset[encoding ?? 'identity'])
}
