// The TypeScript of the documents: what a reader copies must compile against the packed packages.

/**
 * Returns the code blocks of a Markdown file that stand on their own: fenced as `ts` and importing something.
 * Fragments are left out, and so are blocks fenced as anything else (`ts fragment`).
 */
export function codeBlocks(path, markdown) {
  const blocks = []
  for (const { 1: code, index } of markdown.matchAll(/^```ts\n([^]*?)^```$/gm)) {
    if (!/^import /m.test(code)) continue
    const line = markdown.slice(0, index).split('\n').length + 1
    blocks.push({ path, line, code })
  }
  return blocks
}
