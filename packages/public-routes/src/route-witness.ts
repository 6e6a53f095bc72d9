/** Whether the route that the router chose, with the parameters it took, spells exactly the path that was matched. */
import { fullyDecoded } from '@fastify-modular/core/internal'
import type { RoutePattern } from './matching/route-pattern.ts'

/** The parameters of a request as the router decoded them; an earlier hook may have changed them to anything. */
export type RouteParams = Readonly<Record<string, unknown>>

/**
 * Rebuilds the path piece by piece from the patterns of the chosen route and compares it with the canonical path.
 * `lenient` tolerates one trailing slash, for routers that ignore it.
 */
export function spellsPath(
  patterns: readonly RoutePattern[],
  params: RouteParams,
  path: string,
  lenient: boolean,
): boolean {
  const spelled = fullyDecoded(path)
  for (const pattern of patterns) {
    if (spells(pattern, params, spelled, lenient)) return true
  }
  return false
}

function spells(pattern: RoutePattern, params: RouteParams, path: string, lenient: boolean): boolean {
  let at = 0
  for (const part of pattern) {
    const text = typeof part === 'string' ? part : params[part.param]
    if (typeof text !== 'string' || !path.startsWith(text, at)) return false
    at += text.length
  }
  return at === path.length || (lenient && at === path.length - 1 && path.endsWith('/'))
}
