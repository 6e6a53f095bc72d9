/** Which lines of a text became which others. */

/** A line of both texts, of one of them, or a number of equal lines that are left out. */
export type Line =
  | { readonly kind: 'same' | 'removed' | 'added'; readonly text: string }
  | { readonly kind: 'gap'; readonly count: number }

/** Equal lines that stay beside a change. */
const context = 2

/** Lines of which every pair is compared; of longer texts, all that differs counts as one change. */
const most = 400

/** The lines of two texts in their order; equal ones far from any change are left out. */
export function diffLines(before: string, after: string): readonly Line[] {
  return fold(compare(toLines(before), toLines(after)))
}

type Whole = Exclude<Line, { readonly kind: 'gap' }>

function toLines(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n')
}

function compare(before: readonly string[], after: readonly string[]): readonly Whole[] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const middle = changed(before.slice(start, before.length - end), after.slice(start, after.length - end))
  const toSame = (text: string): Whole => ({ kind: 'same', text })
  return [...before.slice(0, start).map(toSame), ...middle, ...before.slice(before.length - end).map(toSame)]
}

/** By the longest lines that both have in common, in their order. */
function changed(before: readonly string[], after: readonly string[]): Whole[] {
  const rows = before.length > most || after.length > most ? [] : commonLengths(before, after)
  const lines: Whole[] = []
  let [a, b] = [0, 0]
  while (a < before.length || b < after.length) {
    const [removed, added] = [before[a], after[b]]
    const isLongerWithout = (rows[a + 1]?.[b] ?? 0) >= (rows[a]?.[b + 1] ?? 0)
    if (rows.length > 0 && removed !== undefined && removed === added) {
      lines.push({ kind: 'same', text: removed })
      a++
      b++
    } else if (removed !== undefined && (added === undefined || isLongerWithout)) {
      lines.push({ kind: 'removed', text: removed })
      a++
    } else {
      lines.push({ kind: 'added', text: added ?? '' })
      b++
    }
  }
  return lines
}

/** How many lines the rests of both texts have in common, from each pair of lines on. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly (readonly number[])[] {
  const rows = Array.from({ length: before.length + 1 }, () => Array.from(after, () => 0))
  for (let a = before.length - 1; a >= 0; a--) {
    const [row, next] = [rows[a] ?? [], rows[a + 1] ?? []]
    for (let b = after.length - 1; b >= 0; b--)
      row[b] = before[a] === after[b] ? (next[b + 1] ?? 0) + 1 : Math.max(next[b] ?? 0, row[b + 1] ?? 0)
  }
  return rows
}

function fold(lines: readonly Whole[]): readonly Line[] {
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ kind }) => kind !== 'same')
  const folded: Line[] = []
  let count = 0
  for (const [index, line] of lines.entries()) {
    if (!isNear(index)) count++
    else {
      if (count > 0) folded.push({ kind: 'gap', count })
      count = 0
      folded.push(line)
    }
  }
  if (count > 0 && folded.length > 0) folded.push({ kind: 'gap', count })
  return folded
}
