/** Links between documents, relative or by the address of the repository. */
import { posix } from 'node:path'
import { test } from 'tap'
import { repositoryFiles, textOf } from './sources.js'

/** Returns the links of a Markdown file to files of the repository that lead nowhere. `paths` are all files of the repository. */
function brokenLinks(path: string, markdown: string, paths: ReadonlySet<string>): string[] {
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

test('links of the documents to files of the repository lead somewhere', (t) => {
  const paths = new Set(repositoryFiles())
  const documents = [...paths].filter((path) => path.endsWith('.md'))
  t.ok(documents.length > 5)
  t.same(
    documents.flatMap((path) => brokenLinks(path, textOf(path), paths)),
    [],
  )
  t.end()
})

test('a link to nothing is found; addresses, fragments and code are passed over', (t) => {
  const paths = new Set(['docs/a.md', 'docs/guides/b.md', 'README.md'])
  const text = `
[up](../README.md#start) [folder](guides/) [folder too](guides) [address](https://example.com/x) [here](#here)
\`[code](gone.md)\`
\`\`\`md
[code](gone.md)
\`\`\`
[own address](https://github.com/fastify-modular/fastify-modular/blob/main/docs/guides/b.md#x) [gone](https://github.com/fastify-modular/fastify-modular/blob/main/docs/c.md)
[gone](gone.md) ![picture](guides/gone.png "title")`
  t.same(brokenLinks('docs/a.md', text, paths), [
    'docs/a.md: https://github.com/fastify-modular/fastify-modular/blob/main/docs/c.md',
    'docs/a.md: gone.md',
    'docs/a.md: guides/gone.png',
  ])
  t.end()
})
