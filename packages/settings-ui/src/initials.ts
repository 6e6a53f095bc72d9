/** `Ada Lovelace` → `AL`, `ada` → `AD`. */
export function initialsOf(name: string): string {
  const [first = '', second] = name.trim().split(/\s+/)
  const letters =
    second === undefined
      ? Array.from(first).slice(0, 2)
      : [first, second].flatMap((word) => Array.from(word).slice(0, 1))
  return letters.join('').toUpperCase()
}
