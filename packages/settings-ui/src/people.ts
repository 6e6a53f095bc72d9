/** How people are drawn: the letters of their face, and its colour. */

/** `Ada Lovelace` → `AL`, `ada` → `AD`. */
export function initialsOf(name: string): string {
  const [first = '', second] = name.trim().split(/\s+/)
  const letters =
    second === undefined
      ? Array.from(first).slice(0, 2)
      : [first, second].flatMap((word) => Array.from(word).slice(0, 1))
  return letters.join('').toUpperCase()
}

/** One of eight hues, from 1 to 8, for the face of a person: the same for the same id, on the settings pages and on yours. */
export function hueOf(id: string): number {
  // By a prime: ids that differ in one letter spread over all eight.
  const sum = Array.from(id).reduce((hash, letter) => (hash * 8797 + (letter.codePointAt(0) ?? 0)) % 9973, 0)
  return (sum % 8) + 1
}
