/** Where a text stops being JSON: engines tell it in words of their own, or not at all. */

const space = /[ \t\n\r]*/y
// oxlint-disable-next-line no-control-regex -- JSON forbids them within strings
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const other = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y

/** Nesting after which the search gives up; the API takes 32. */
const deepest = 500

/** Line and column, from 1, of the first character that is not JSON. */
export function findJsonError(text: string): { readonly line: number; readonly column: number } {
  const before = text.slice(0, errorOffset(text)).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

function errorOffset(text: string): number {
  let at = 0

  function take(pattern: RegExp): boolean {
    pattern.lastIndex = at
    const isFound = pattern.test(text)
    if (isFound) at = pattern.lastIndex
    return isFound
  }
  function sign(wanted: string): boolean {
    take(space)
    if (text[at] !== wanted) return false
    at++
    return true
  }
  function list(end: string, item: () => boolean): boolean {
    if (sign(end)) return true
    do if (!item()) return false
    while (sign(','))
    return sign(end)
  }
  function value(depth: number): boolean {
    const inner = (): boolean => value(depth + 1)
    if (depth > deepest) return false
    if (sign('[')) return list(']', inner)
    if (sign('{')) return list('}', () => take(space) && take(string) && sign(':') && inner())
    return take(string) || take(other)
  }

  value(0)
  take(space)
  return at
}
