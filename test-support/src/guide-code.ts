/** The code of a guide, to be run: what readers copy is what is tested. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/**
 * Writes each code block of a guide that imports something as JavaScript, and returns the files in the order of the
 * guide. `folder` lies in a package that has installed what they import, and is not under version control. `edit` changes
 * what a test needs otherwise than a reader. Types are checked elsewhere: by scripts/pack.
 */
export function writeGuideCode(guide: URL, folder: URL, edit = (code: string): string => code): string[] {
  const path = fileURLToPath(guide)
  const blocks = [...readFileSync(guide, 'utf8').matchAll(/^```ts\n([^]*?)^```$/gm)]
    .map(([, code = '']) => code)
    .filter((code) => /^import /m.test(code))
  const target = fileURLToPath(folder)
  mkdirSync(target, { recursive: true })
  return blocks.map((code, index) => {
    const file = join(target, `${basename(path, '.md')}-${index}.mjs`)
    writeFileSync(
      file,
      ts.transpile(edit(code), { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }),
    )
    return file
  })
}
