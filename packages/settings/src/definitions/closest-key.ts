/** Finds what somebody who mistyped a key probably meant. */

/** Returns the key with the fewest differences, or undefined if none is close. Keys have at most 100 characters. */
export function closestKey(key: string, keys: Iterable<string>): string | undefined {
  const wanted = key.slice(0, 100).toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1
  for (const candidate of keys) {
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** Insertions, deletions and replacements that turn one text into the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
