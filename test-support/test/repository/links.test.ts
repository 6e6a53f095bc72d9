import { test } from 'tap'
import { brokenLinks } from './links.js'
import { repositoryFiles, textOf } from './sources.js'

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
