/** Sentences of documents and docstrings, without code, tables and lists of links. */

/** The most words that a sentence has. */
export const mostWords = 38

/** Returns the sentences of Markdown that are too long, with their number of words. */
export function longSentences(markdown: string): string[] {
  return paragraphsOf(markdown)
    .flatMap(sentencesOf)
    .map((sentence) => ({ sentence, words: wordsOf(sentence) }))
    .filter(({ words }) => words > mostWords)
    .map(({ sentence, words }) => `${words} words: ${sentence}`)
}

/** The text of each docstring of a source that is exported. */
export function docstringsOf(source: string): string[] {
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
