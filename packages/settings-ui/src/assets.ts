/** The built scripts and style sheet, read once and served from memory under names that change with their content. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { acceptedEncoding } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { FMOD_SETTINGS_UI_NOT_BUILT } from './misuse-errors.ts'
import { languages } from './texts/texts.ts'
import { themeCss } from './theme.ts'

/** One file, in the encodings that browsers take. */
export interface Asset {
  /** `app.<hash>.js` */
  readonly name: string
  readonly type: string
  readonly etag: string
  /** Its name stays when its content changes: browsers ask each time whether it did. */
  readonly isStable?: boolean
  readonly identity: Buffer
  readonly br: Buffer
  readonly gzip: Buffer
}

export interface Assets {
  readonly script: Asset
  /** What defines `<fm-settings>`, under a name that documents of the host may contain. */
  readonly element: Asset
  /** Scripts that the first one loads when they are wanted. */
  readonly more: readonly Asset[]
  readonly style: Asset
  /** Texts by language, without the English ones. */
  readonly texts: ReadonlyMap<string, Asset>
}

/**
 * Reads the built files; rules of the host go to the end of the style sheet.
 * @throws {FMOD_SETTINGS_UI_NOT_BUILT} a file is missing
 */
export async function loadAssets(css = '', folder = new URL('./public/', import.meta.url)): Promise<Assets> {
  const names = await readdir(folder).catch(() => [])
  const scripts = names.filter((name) => name.endsWith('.js'))
  const named = (start: string): string =>
    scripts.find((name) => name.startsWith(`${start}.`)) ?? `${start}.js`
  const first = named('app')
  const [style, script, element, ...more] = await Promise.all([
    readBuilt(folder, 'app.css'),
    readScript(folder, first),
    // Both are named, so that browsers load them at once.
    append(Buffer.from(`import './${first}'\nimport './${named('element')}'\n`), ''),
    ...scripts.filter((name) => name !== first).map((name) => readScript(folder, name)),
  ])
  return {
    script,
    element: { ...toAsset('js', scriptType, element), name: 'element.js', isStable: true },
    more,
    style: toAsset('css', 'text/css; charset=utf-8', css === '' ? style : await append(style.identity, css)),
    texts: await loadTexts(),
  }
}

async function loadTexts(): Promise<ReadonlyMap<string, Asset>> {
  const others = Object.entries(languages).filter(([language]) => language !== 'en')
  const assets = others.map(async ([language, texts]) => {
    const content = await append(Buffer.from(JSON.stringify(texts)), '')
    const { name, ...asset } = toAsset('json', 'application/json; charset=utf-8', content)
    return [language, { name: name.replace('app', language), ...asset }] as const
  })
  return new Map(await Promise.all(assets))
}

/** Looks whose style sheets are kept. */
const mostLooks = 50

/**
 * Returns the style sheet with tokens at its end. They come from an address that anybody may write: only what is a token
 * gets into the sheet, and the cache is bounded.
 */
export function createStyles(style: Asset): (tokens: Readonly<Record<string, unknown>>) => Promise<Asset> {
  const known = new Map<string, Promise<Asset>>()
  return async (tokens) => {
    const css = themeCss(tokens)
    if (css === '') return style
    const content =
      known.get(css) ?? append(style.identity, css).then((made) => toAsset('css', style.type, made))
    known.delete(css)
    known.set(css, content)
    for (const oldest of known.keys()) {
      if (known.size <= mostLooks) break
      known.delete(oldest)
    }
    return content
  }
}

const scriptType = 'text/javascript; charset=utf-8'

/** A script under the name that it was built with: scripts load each other by name. */
async function readScript(folder: URL, name: string): Promise<Asset> {
  return { ...toAsset('js', scriptType, await readBuilt(folder, name)), name }
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
  // Quality 9 is a twentieth of the time of the best and 5 % larger.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(identity, { params }),
    promisify(gzip)(identity),
  ])
  return { identity, br, gzip: gz }
}

function toAsset(extension: string, type: string, encodings: Encodings): Asset {
  const hash = createHash('sha256').update(encodings.identity).digest('base64url').slice(0, 12)
  return { name: `app.${hash}.${extension}`, type, etag: `"${hash}"`, ...encodings }
}

/** Answers with an asset in the best encoding that the client takes (RFC 9110, 12.5.3). */
export function sendAsset(asset: Asset, request: FastifyRequest, reply: FastifyReply): void {
  reply
    .header('cache-control', asset.isStable ? 'no-cache' : 'public, max-age=31536000, immutable')
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
