/** Finds what a misspelt name probably means. */

/**
 * The name with the fewest insertions, deletions, replacements and swaps, in any letter case; undefined if none is close.
 * Looks at the first 100 characters. Cost: the length of the name times that of all names.
 * @param most how many of them a close name may need
 */
export function closestName(
  name: string,
  names: Iterable<string>,
  most = Math.max(2, Math.floor(Math.min(name.length, 100) / 3)),
): string | undefined {
  const wanted = name.slice(0, 100).toLowerCase()
  let best: string | undefined
  let bestDistance = most + 1
  for (const candidate of names) {
    if (Math.abs(candidate.length - wanted.length) >= bestDistance) continue // each letter more is an insertion
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let former: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swapped = isSwap ? (former[j - 2] ?? 0) + 1 : Infinity
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    former = row
    row = next
  }
  return row[to.length] ?? 0
}
