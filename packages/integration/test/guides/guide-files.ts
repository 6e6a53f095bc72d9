/** The files that a guide shows, and what it changes of them. */
import { readFileSync } from 'node:fs'

export type Files = Readonly<Record<string, string>>

export const guide = (name: string): string =>
  readFileSync(new URL(`../../../../docs/guides/${name}.md`, import.meta.url), 'utf8')

/**
 * The files that a text shows: blocks of TypeScript whose first line is their name, or what has changed of a whole file. A
 * later one replaces an earlier one.
 */
export function filesOf(markdown: string): Files {
  const blocks = markdown.matchAll(/^```(?:ts|diff)\n ?\/\/ (\S+\.ts)\n([^]*?)^```$/gm)
  return Object.fromEntries(
    [...blocks].map(([block, name = '', code = '']) => [
      name,
      block.startsWith('```diff') ? side(code, '+') : code,
    ]),
  )
}

/** The changes that a text shows: the name of each file, what it was, and where in the text its change stands. */
export function changesOf(markdown: string): { name: string; before: string; index: number }[] {
  const diffs = markdown.matchAll(/^```diff\n \/\/ (\S+\.ts)\n([^]*?)^```$/gm)
  return Array.from(diffs, ({ index, 1: name = '', 2: diff = '' }) => ({
    name,
    before: side(diff, '-'),
    index,
  }))
}

/** What a diff makes of a file, `+`, or makes it of, `-`. */
function side(diff: string, sign: '+' | '-'): string {
  const other = sign === '+' ? /^-.*\n/gm : /^\+.*\n/gm
  return diff.replaceAll(other, '').replaceAll(/^[-+ ]/gm, '')
}

/** The first block of a language that a text shows. */
export function blockOf(markdown: string, language: string): string {
  const [, code] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(markdown) ?? []
  if (code === undefined) throw new Error(`The guide shows no ${language}.`)
  return code
}
