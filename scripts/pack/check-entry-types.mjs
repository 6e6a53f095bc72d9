// Compiles each entry point of the packed packages alone, as a strict application sees it that has installed nothing
// optional: no database, no types of databases.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** drizzle-orm's own declarations, which this one is made of, compile nowhere without `skipLibCheck`. */
const showsDrizzle = '@fastify-modular/core/events/drizzle'

const options = {
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts'],
  module: ts.ModuleKind.NodeNext,
  strict: true,
  skipLibCheck: false,
  types: ['node'],
  noEmit: true,
}

/** Throws with every message of the compiler, those about declarations of other packages included. */
export function checkEntryTypes({ folder, addReact }, entries) {
  const showsReact = (entry) => entry.endsWith('/react')
  const problems = problemsOf(
    entries.filter((entry) => entry !== showsDrizzle && !showsReact(entry)),
    folder,
  )
  addReact()
  problems.push(...problemsOf(entries.filter(showsReact), folder))
  if (problems.length > 0) throw new Error(`the declarations do not compile:\n${problems.join('\n')}`)
}

function problemsOf(entries, folder) {
  const host = cachingHost(folder)
  const checked = new Set()
  return entries.flatMap((entry) => {
    const file = join(folder, `${entry.replaceAll(/\W+/g, '-')}.mts`)
    writeFileSync(file, `export * from '${entry}'\n`)
    const messages = messagesOf(ts.createProgram([file], options, host), checked)
    return messages.length === 0 ? [] : [`${entry} alone:\n${ts.formatDiagnostics(messages, host)}`]
  })
}

/** Ours are checked in each program, since one entry point may augment what another names; the others once. */
function messagesOf(program, checked) {
  const files = program.getSourceFiles().filter(({ fileName }) => !checked.has(fileName))
  for (const { fileName } of files) if (!fileName.includes('@fastify-modular/')) checked.add(fileName)
  return [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...files.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
  ]
}

/** Declarations are read and parsed once for all programs. */
function cachingHost(folder) {
  const host = ts.createCompilerHost(options)
  const files = new Map()
  return {
    ...host,
    getCurrentDirectory: () => folder,
    getSourceFile(name, ...rest) {
      if (!files.has(name)) files.set(name, host.getSourceFile(name, ...rest))
      return files.get(name)
    },
  }
}
