/** llms.txt, made of docs/README.md: the same documents for programs that read, with addresses of plain text. */
import { posix } from 'node:path'

const raw = 'https://raw.githubusercontent.com/fastify-modular/fastify-modular/main/'

/** Returns the text of llms.txt (llmstxt.org) for a summary and the list of documents. */
export function llmsText(summary: string, documents: string): string {
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
export function minutesToRead(markdown: string): number {
  const words = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length
  const prose = markdown.replaceAll(/^```[^]*?^```/gm, '')
  return words(prose) / 230 + (words(markdown) - words(prose)) / 400
}
