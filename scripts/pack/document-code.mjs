// The TypeScript of the documents: what a reader copies must compile against the packed packages.

/**
 * Returns the code blocks of a Markdown file that stand on their own: fenced as `ts` or `tsx` and importing something. `fragments`
 * are the places of the others (`README.md:12`), which nothing compiles.
 */
export function codeBlocks(path, markdown) {
  const blocks = []
  const fragments = []
  for (const { 1: info, 2: code, index } of markdown.matchAll(/^```(tsx?\b[^\n]*)\n([^]*?)^```$/gm)) {
    const line = markdown.slice(0, index).split('\n').length + 1
    if (/^tsx?$/.test(info) && /^import /m.test(code)) blocks.push({ path, line, code, language: info })
    else fragments.push(`${path}:${line}`)
  }
  return { blocks, fragments }
}

/** The commands `npm install …` of a Markdown file, without comments. */
export function installLines(markdown) {
  return [...markdown.matchAll(/^npm install ([^#\n]+)/gm)].map(([, packages]) => packages.trim())
}

/** The `compilerOptions` that a Markdown file shows; undefined when it shows none. */
export function typeScriptOptions(markdown) {
  const [, json] = /^```json\n(\{\s*"compilerOptions": [^]*?)\n```$/m.exec(markdown) ?? []
  return json === undefined ? undefined : JSON.parse(json).compilerOptions
}
