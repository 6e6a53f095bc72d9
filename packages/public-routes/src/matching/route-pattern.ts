/** Reads a Fastify route URL the way the router does: literal text, parameters, wildcard, optional last parameter. */

/** Literal text, or the parameter that stands in its place (`*` for the wildcard), with the expression it must match. */
type PatternPart = string | { readonly param: string; readonly expression?: string }

/** One spelling that a route URL allows. */
export type RoutePattern = readonly PatternPart[]

/** The router's own test for an optional parameter; it must be the last one. */
const optionalParameter = /(\/:[^/()]*?)\?(\/?)$/

/**
 * The patterns of a route URL: two for an optional last parameter (`/posts/:id?` is `/posts/:id` and `/posts`),
 * otherwise one.
 */
export function parseRoutePattern(url: string): readonly RoutePattern[] {
  if (!/[:*]/.test(url)) return [url === '' ? [] : [url]] // most routes of many applications
  if (!optionalParameter.test(url)) return [parseParts(url)]
  return [
    parseParts(url.replace(optionalParameter, '$1$2')),
    parseParts(url.replace(optionalParameter, '$2') || '/'),
  ]
}

/** The text of a part; empty where it is a parameter, or there is none. */
export function literalOf(part: PatternPart | undefined): string {
  return typeof part === 'string' ? part : ''
}

/** The names of the parameters in their order; `*` for the wildcard. */
export function parameterNames(pattern: RoutePattern): readonly string[] {
  return pattern.flatMap((part) => (typeof part === 'string' ? [] : [part.param]))
}

/** What stands between two slashes: a text, any text that is not empty, or some texts. */
type Segment = string | { readonly any: boolean }

/** What stands between the slashes of all paths that a route or a rule matches. */
export type Segments = readonly Segment[]

/** How a rule matches, whatever the method. */
export interface Matcher {
  /** Literal text that every matching path begins with (for `suffix`: ends with); empty where none is certain. */
  readonly literal: string
  /** What stands between the slashes of every matching path; null where that is not certain. */
  readonly segments: Segments | null
  readonly matchesPath: (path: string) => boolean
}

export const anySegment: Segment = Object.freeze({ any: true })
export const someSegment: Segment = Object.freeze({ any: false })

/** Null where a wildcard stands for any number of segments. */
export function segmentsOf(pattern: RoutePattern): Segments | null {
  if (pattern.some((part) => typeof part !== 'string' && part.param === '*')) return null
  const parameter = '\0'
  const text = pattern.map((part) => (typeof part === 'string' ? part : parameter)).join('')
  return text.split('/').map((segment) => (segment.includes(parameter) ? someSegment : segment))
}

/** Which paths of a route a rule matches, as far as their segments show. */
export function compareSegments(rule: Segments, route: Segments): 'every path' | 'some paths' | 'no path' {
  if (rule.length !== route.length) return 'no path'
  const pairs = rule.map((segment, at) => [segment, route[at] ?? someSegment] as const)
  if (pairs.some(([one, other]) => typeof one === 'string' && typeof other === 'string' && one !== other)) {
    return 'no path'
  }
  const isCovered = pairs.every(([one, other], at) => {
    if (typeof one === 'string') return one === other
    // A parameter at the end may be empty, one before another segment may not: such a path is not canonical.
    return one.any && (typeof other === 'string' ? other !== '' : at < rule.length - 1)
  })
  return isCovered ? 'every path' : 'some paths'
}

function parseParts(url: string): RoutePattern {
  const parts: PatternPart[] = []
  let text = ''
  let at = 0
  while (at < url.length) {
    const isParameter = url[at] === ':' && url[at + 1] !== ':'
    if (!isParameter && url[at] !== '*') {
      text += url[at]
      at += url.startsWith('::', at) ? 2 : 1 // a doubled colon is a literal one
      continue
    }
    if (text !== '') parts.push(text)
    text = ''
    const end = isParameter ? endOfName(url, at + 1) : at + 1
    const param = isParameter ? url.slice(at + 1, end) : '*'
    at = url[end] === '(' ? endOfExpression(url, end) : end
    parts.push(at === end ? { param } : { param, expression: url.slice(end + 1, at - 1) })
  }
  if (text !== '') parts.push(text)
  return parts
}

function endOfName(url: string, start: number): number {
  let end = start
  while (end < url.length && !'(-./'.includes(url.charAt(end))) end++
  return end
}

/** The index after the parenthesis that closes the one at `open`. */
function endOfExpression(url: string, open: number): number {
  let depth = 0
  for (let at = open; at < url.length; at++) {
    if (url[at] === '\\') at++
    else if (url[at] === '(') depth++
    else if (url[at] === ')' && --depth === 0) return at + 1
  }
  return url.length
}
