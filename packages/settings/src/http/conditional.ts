/** Conditional requests and their answers: entity tags (RFC 9110, 13), what a write sends back, encodings. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { acceptedEncoding, addVary } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SettingValueDto } from '../reading/dto.ts'
import { type JsonValue, toEtag } from '../setting-definition.ts'
import { tenantOf } from '../store/plan-write.ts'
import type { EntryOutcome, Expects } from '../write/write.ts'

/** Whether a row, or the store, may be written at its current revision; undefined for a request without a condition. */
export function conditionOf({ headers }: FastifyRequest, tenant?: string): Expects | undefined {
  const ifMatch = headers['if-match']
  const ifNoneMatch = headers['if-none-match']
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined
  return (revision) => {
    const etag = toEtag(revision, tenant)
    return (
      (ifMatch === undefined || matchesStrongly(ifMatch, etag)) &&
      // `*`: only if unset, because every setting that is defined has a representation.
      (ifNoneMatch === undefined ||
        (ifNoneMatch.trim() === '*' ? revision === 0 : !matchesWeakly(ifNoneMatch, etag)))
    )
  }
}

/** Answers 204, or 200 with the stored value where the request prefers that (RFC 7240). A list of a tenant has no tag. */
export function answerRepresentation(
  request: FastifyRequest,
  reply: FastifyReply,
  etag: string | undefined,
  stored: () => unknown,
): FastifyReply {
  if (etag !== undefined) reply.header('etag', etag)
  if (!prefersRepresentation(request)) return reply.code(204).send()
  return reply.code(200).header('preference-applied', 'return=representation').send(stored())
}

/** Answers a write of one value, with the tag of its new version. */
export function answerWritten(
  request: FastifyRequest,
  reply: FastifyReply,
  written: EntryOutcome | undefined,
  toStored: (written: EntryOutcome) => SettingValueDto,
): FastifyReply {
  const etag = toEtag(written?.after?.revision ?? 0, tenantOf(written?.entry))
  return answerRepresentation(request, reply, etag, () => written && toStored(written))
}

function prefersRepresentation({ headers }: FastifyRequest): boolean {
  return String(headers.prefer ?? '')
    .split(/[,;]/)
    .some((item) => /^\s*return=(?:representation|"representation")\s*$/i.test(item))
}

/** Strong comparison (RFC 9110, 8.8.3.2): where bytes count, a weak tag never matches. */
function matchesStrongly(header: string, etag: string): boolean {
  return header.trim() === '*' || tagsOf(header).includes(etag)
}

/** Weak comparison (RFC 9110, 8.8.3.2): where equal content is enough. */
function matchesWeakly(header: string, etag: string): boolean {
  return matchesStrongly(header, etag) || tagsOf(header).includes(`W/${etag}`)
}

function tagsOf(header: string): readonly string[] {
  return header.split(',').map((item) => item.trim())
}

/** Sends text that is JSON already, or its bytes. */
export function sendJson(reply: FastifyReply, json: string | Buffer): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(json)
}

/** Sends JSON under its tag, or 304 if the caller has that already. */
export function sendUnlessUnchanged(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, etag }: TaggedJson,
): FastifyReply {
  addVary(reply, 'Accept-Encoding')
  const encoding = acceptedEncoding(request.headers)
  // The tag is that of the uncompressed bytes: for others it can only be weak (RFC 9110, 8.8.1).
  reply.header('etag', encoding ? `W/${etag}` : etag)
  const ifNoneMatch = request.headers['if-none-match']
  if (ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag)) return sendUnchanged(request, reply)
  if (!encoding) return sendJson(reply, body)
  sendCompressed(reply, body, encoding)
  return reply
}

/** HEAD gets an empty stream; otherwise Fastify would send `content-length: 0`. */
function sendUnchanged({ method }: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(304).send(method === 'HEAD' ? Readable.from([]) : undefined)
}

const compress = {
  // Quality 5 is a tenth of the time of the best and 15 % larger: 500 definitions, 300 kB, become 11 kB.
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (body: Buffer) => promisify(gzip)(body),
}
type Encoding = keyof typeof compress

/** Compressed bodies by their source, collected together with it. */
const sent = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>()

function sendCompressed(reply: FastifyReply, body: Buffer, encoding: Encoding): void {
  const known = sent.get(body) ?? new Map<Encoding, Promise<Buffer>>()
  const compressed = known.get(encoding) ?? compress[encoding](body)
  sent.set(body, known.set(encoding, compressed))
  compressed.then(
    (bytes) => void sendJson(reply.header('content-encoding', encoding), bytes),
    (error: unknown) => void reply.send(error),
  )
}

/** JSON with its strong entity tag. */
export interface TaggedJson {
  readonly body: Buffer
  readonly etag: string
}

/**
 * A content with a tag of 96 bits. It is no revision: those come again after a restored backup, and locked values and
 * defaults have none.
 * @param audience for whom alone the content is
 */
export function toTaggedJson(content: JsonValue | readonly unknown[], audience = ''): TaggedJson {
  const text = JSON.stringify(content)
  const digest = createHash('sha256').update(JSON.stringify(audience)).update(text).digest('base64url')
  return { body: Buffer.from(text), etag: `"${digest.slice(0, 16)}"` }
}
