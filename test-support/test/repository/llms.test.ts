/** llms.txt, made of docs/README.md: the same documents for programs that read, with addresses of plain text. */
import { writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test } from 'tap'
import { repositoryFiles, root, textOf } from './sources.js'

const raw = 'https://raw.githubusercontent.com/fastify-modular/fastify-modular/main/'

/** Returns the text of llms.txt (llmstxt.org) for a summary and the list of documents. */
function llmsText(summary: string, documents: string): string {
  const sections = documents.split(/^(?=## )/m).slice(1)
  const text = sections.map((section) => {
    const [heading = '', ...lines] = section.trimEnd().split('\n')
    return [heading, '', ...lines.filter((line) => line !== '').map(toItem)].join('\n')
  })
  return `# fastify-modular\n\n> ${summary}\n\n${text.join('\n\n')}\n`
}

/** A line of either kind of list, without minutes. */
function toItem(line: string): string {
  return line
    .replace(/^\d+\. /, '- ')
    .replace(/ \(\d+ min\)/, '')
    .replaceAll(/\]\(([^)]+)\)/g, (_, target: string) => `](${raw}${posix.join('docs', target)})`)
}

/** Minutes to read a document: prose at 230 words a minute, code at 400. */
function minutesToRead(markdown: string): number {
  const words = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length
  const prose = markdown.replaceAll(/^```[^]*?^```/gm, '')
  return words(prose) / 230 + (words(markdown) - words(prose)) / 400
}

const documents = textOf('docs/README.md')
const summary = textOf('README.md').split('\n\n')[1]?.replaceAll('\n', ' ').replaceAll('**', '') ?? ''

test('llms.txt lists what docs/README.md lists (UPDATE_SNAPSHOTS=1 writes it)', async (t) => {
  const text = llmsText(summary, documents)
  if (process.env['UPDATE_SNAPSHOTS']) writeFileSync(join(root, 'llms.txt'), text)
  t.equal(textOf('llms.txt'), text)
})

test('docs/README.md lists every guide, and its minutes are those that the length of a document takes', async (t) => {
  const listed = [...documents.matchAll(/^\d+\. \[[^\]]+\]\(([^)]+)\) \((\d+) min\)/gm)].map(
    ([, target = '', minutes]) => ({ path: posix.join('docs', target), minutes: Number(minutes) }),
  )
  const files = repositoryFiles()
  const missing = files.filter(
    (path) => /^docs\/guides\/.+\.md$/.test(path) && !listed.some((it) => it.path === path),
  )
  t.same(missing, [])
  const wrong = listed.filter(
    ({ path, minutes }) => files.includes(path) && Math.abs(minutesToRead(textOf(path)) - minutes) > 1.5,
  )
  t.same(
    wrong.map(({ path, minutes }) => `${path}: ${minutes}, takes ${minutesToRead(textOf(path)).toFixed(1)}`),
    [],
  )
  const whole = documents.slice(documents.indexOf('## The whole'), documents.indexOf('## In production'))
  const sum = [...whole.matchAll(/\((\d+) min\)/g)].reduce((total, [, minutes]) => total + Number(minutes), 0)
  t.ok(sum <= 60, `${sum} minutes`)
})
