import { test } from 'tap'
import { repositoryFiles, textOf } from './sources.js'

/** "decision 12", "decisions 48 and 95", "decisions 25, 28, 29". */
const citation = /\bdecisions? (\d+[a-z]?(?:(?:, | and )\d+[a-z]?)*)/gi

test('every ruling that a source, a test or a document cites is in docs/internal/rulings.md, once', async (t) => {
  const rulings = [...textOf('docs/internal/rulings.md').matchAll(/^- \*\*(\d+[a-z]?)\*\* /gm)].map(
    ([, it]) => it,
  )
  t.same(rulings, [...new Set(rulings)])
  const cited = repositoryFiles()
    .filter((path) => /\.(?:tsx?|mjs|md)$/.test(path))
    .flatMap((path) =>
      [...textOf(path).matchAll(citation)].flatMap(([, list = '']) =>
        list.split(/, | and /).map((number) => ({ path, number })),
      ),
    )
  t.ok(cited.length > 200, 'citations were found')
  t.same(
    cited.filter(({ number }) => !rulings.includes(number)),
    [],
  )
})
