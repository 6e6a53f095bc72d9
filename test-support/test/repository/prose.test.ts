/** Sentences of documents and docstrings that people can read in one go, without code, tables and lists of links. */
import { test } from 'tap'
import { repositoryFiles, textOf } from './sources.js'

/** The most words that a sentence has. */
const mostWords = 38

/** Returns the sentences of Markdown that are too long, with their number of words. */
function longSentences(markdown: string): string[] {
  return paragraphsOf(markdown)
    .flatMap(sentencesOf)
    .map((sentence) => ({ sentence, words: wordsOf(sentence) }))
    .filter(({ words }) => words > mostWords)
    .map(({ sentence, words }) => `${words} words: ${sentence}`)
}

/** The text of each docstring of a source that is exported. */
function docstringsOf(source: string): string[] {
  return [...source.matchAll(/\/\*\*((?:[^*]|\*(?!\/))*)\*\//g)].map(([, text = '']) =>
    text
      .replaceAll(/^[ \t]*\* ?/gm, '')
      .replaceAll(/^@\w+ ?/gm, '\n\n')
      .trim(),
  )
}

/** Paragraphs and items of lists: headings, tables, HTML and code are left out. */
function paragraphsOf(markdown: string): string[] {
  return markdown
    .replaceAll(/^[ \t]*```[^]*?^[ \t]*```[ \t]*$/gm, '\n\n')
    .replaceAll(/<!--[^]*?-->/g, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)|\n(?=[#|])|(?<=^#[^\n]*)\n/m)
    .filter((paragraph) => !/^\s*(?:[|#<]|\[.*\]\([^)]*\) ·)/.test(paragraph))
    .map((paragraph) => paragraph.replace(/^\s*(?:[-*]|\d+\.)\s+/, '').replaceAll(/\s+/g, ' '))
}

/** Code counts as one word, a link as its text. */
function sentencesOf(paragraph: string): string[] {
  return paragraph
    .replaceAll(/`[^`]*`/g, 'Code')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*{1,2}/g, '')
    .split(/(?<=[.!?]["')”]*)\s+(?=["'(“]*[\p{Lu}\d]|$)/u)
}

function wordsOf(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

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
