/** Links between documents, relative or by the address of the repository. */
import { posix } from 'node:path'

/** Returns the links of a Markdown file to files of the repository that lead nowhere. `paths` are all files of the repository. */
export function brokenLinks(path: string, markdown: string, paths: ReadonlySet<string>): string[] {
  return linksOf(markdown)
    .filter((link) => !exists(targetOf(path, link), paths))
    .map((link) => `${path}: ${link}`)
}

/** The READMEs of packages are read outside of the repository, too. */
const address = /^https:\/\/github\.com\/fastify-modular\/fastify-modular\/(?:blob|tree)\/main\//

function targetOf(path: string, link: string): string {
  return address.test(link) ? link.replace(address, '') : posix.join(posix.dirname(path), link)
}

/** Targets of links and images, without fragment; code blocks, other addresses and fragments of the same page left out. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)]
    .map((match) => decodeURI((match[1] ?? '').replace(/#.*$/, '')))
    .filter((target) => target !== '' && (address.test(target) || !/^[a-z]+:/i.test(target)))
}

function exists(target: string, paths: ReadonlySet<string>): boolean {
  const folder = target.endsWith('/') ? target : `${target}/`
  return paths.has(target) || target === '.' || [...paths].some((path) => path.startsWith(folder))
}
