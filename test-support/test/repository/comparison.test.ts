import { test } from 'tap'
import { testNames } from './coverage-table.js'
import { repositoryFiles, textOf } from './sources.js'

/** `service/reads`: a sentence. The sentence may be missing: then the whole file is meant. */
const citation =
  /`((?:service|http|stream|types|values|definitions|testing|client|openfeature)\/[\w./-]+)`(?:: ([^;|\n]+?))?(?= \||;| and )/g

test('docs/internal/comparison.md says of us what a test shows', async (t) => {
  const files = repositoryFiles().filter((path) => path.startsWith('packages/settings/test/'))
  const problems = [...textOf('docs/internal/comparison.md').matchAll(citation)].flatMap(
    ([, file = '', sentence]) => {
      const path = files.find((each) => each.replace(/(?:\.test)?\.ts$/, '').endsWith(`/test/${file}`))
      if (path === undefined) return [`${file} does not exist`]
      if (sentence === undefined || sentence.startsWith('compiled')) return []
      return testNames(textOf(path)).some((name) => name.startsWith(sentence))
        ? []
        : [`${path} has no test named: ${sentence}`]
    },
  )
  t.same(problems, [])
})
