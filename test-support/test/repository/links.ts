/** Relative links between documents. */
import { posix } from 'node:path'

/** Returns the relative links of a Markdown file that lead nowhere. `paths` are all files of the repository. */
export function brokenLinks(path: string, markdown: string, paths: ReadonlySet<string>): string[] {
  return linksOf(markdown)
    .filter((link) => !exists(posix.join(posix.dirname(path), link), paths))
    .map((link) => `${path}: ${link}`)
}

/** Targets of links and images, without fragment; code blocks, addresses and fragments of the same page left out. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)]
    .map((match) => decodeURI((match[1] ?? '').replace(/#.*$/, '')))
    .filter((target) => target !== '' && !/^[a-z]+:/i.test(target))
}

function exists(target: string, paths: ReadonlySet<string>): boolean {
  const folder = target.endsWith('/') ? target : `${target}/`
  return paths.has(target) || target === '.' || [...paths].some((path) => path.startsWith(folder))
}
