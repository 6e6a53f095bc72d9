/** Paths that a route may be asked for, to find out at boot which rules can open it. */
import type { PatternPart, RoutePattern } from '../matching/route-pattern.ts'

/** What parameters commonly hold. */
const commonValues = ['42', 'sample', '3f2504e0-4f89-41d3-9a0c-0305e82c3301', 'a.b']

/** Sample paths of a route pattern; `hint` is the text of a rule, whose segments are tried as values as well. */
export function samplePaths(pattern: RoutePattern, hint: string): readonly string[] {
  const paths = commonValues.map((value) => fill(pattern, () => value))
  if (pattern.every((part) => typeof part === 'string')) return paths.slice(0, 1)
  return [...paths, fill(pattern, fromStart(hint)), fillFromEnd(pattern, hint)]
}

type Fill = (before: string, isWildcard: boolean) => string

function fill(pattern: RoutePattern, valueAfter: Fill): string {
  let path = ''
  for (const part of pattern) path += typeof part === 'string' ? part : valueAfter(path, part.param === '*')
  return path
}

/** What the hint has where the value stands, when it begins like the path before it. */
function fromStart(hint: string): Fill {
  return (before, isWildcard) => {
    if (!hint.startsWith(before)) return 'sample'
    const rest = hint.slice(before.length)
    return (isWildcard ? rest : rest.split('/', 1)[0]) || 'sample'
  }
}

/** The last value is chosen so that the path ends with the hint, where the literal text behind it allows that. */
function fillFromEnd(pattern: RoutePattern, hint: string): string {
  const last = pattern.findLastIndex((part) => typeof part !== 'string')
  const behind = fill(pattern.slice(last + 1), () => '')
  const value = hint.endsWith(behind) ? hint.slice(0, hint.length - behind.length) : 'sample'
  const text = isWildcardPart(pattern[last]) ? value : (value.split('/').at(-1) ?? '')
  return fill(pattern.slice(0, last), () => 'sample') + (text || 'sample') + behind
}

function isWildcardPart(part: PatternPart | undefined): boolean {
  return typeof part === 'object' && part.param === '*'
}
