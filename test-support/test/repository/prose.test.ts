/** Sentences that people can read in one go. */
import { test } from 'tap'
import { docstringsOf, longSentences, mostWords } from './prose.js'
import { repositoryFiles, textOf } from './sources.js'

/** The specification is another's text, rulings are for auditors, changelogs and changesets are lists. */
const others = /^(?:docs\/specification\.md|docs\/internal\/|\.changeset\/|\.github\/)|CHANGELOG\.md$/
const documents = repositoryFiles().filter((path) => path.endsWith('.md') && !others.test(path))
const sources = repositoryFiles().filter((path) => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path))

test(`no sentence of a document has more than ${mostWords} words`, async (t) => {
  t.ok(documents.length > 30)
  t.same(
    documents.flatMap((path) => longSentences(textOf(path)).map((sentence) => `${path}: ${sentence}`)),
    [],
  )
})

test(`no sentence of a docstring has more than ${mostWords} words`, async (t) => {
  t.ok(sources.length > 300)
  t.same(
    sources.flatMap((path) =>
      docstringsOf(textOf(path)).flatMap((text) => longSentences(text).map((it) => `${path}: ${it}`)),
    ),
    [],
  )
})

test('a long sentence is found wherever it stands; code, tables and headings are left out', async (t) => {
  const long = Array.from({ length: 39 }, (_, at) => `word${at}`).join(' ')
  const short = ['Word', ...Array.from({ length: 37 }, (_, at) => `word${at}`)].join(' ')
  for (const text of [
    `${long}.`,
    `- ${long}.`,
    `1. Short. ${long}`,
    `# A\n${long}`,
    `> ${long}`,
    `**${long}**`,
  ])
    t.equal(longSentences(text).length, 1, text.slice(0, 10))
  for (const text of [
    `${short}.`,
    `${short}. ${short}.`,
    `- ${short}\n- ${short}`,
    `| ${long} |`,
    `# ${long}`,
    `\`\`\`\n${long}\n\`\`\``,
    `\`${long}\``,
    `[short](${long.replaceAll(' ', '-')})`,
  ])
    t.same(longSentences(text), [], text.slice(0, 10))
  t.same(
    docstringsOf(`/** One. */\nconst a = 1 // no\n/**\n * Two.\n * Still two.\n * @throws {E} three\n */`),
    ['One.', 'Two.\nStill two.\n\n\n{E} three'],
  )
})
