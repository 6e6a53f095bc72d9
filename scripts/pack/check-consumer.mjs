// Uses every entry point of the packed packages: import, require, and both kinds of TypeScript.
import { cpSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { capture, npmInstall } from '../command.mjs'
import { manifestOf } from '../files.mjs'
import { checkEntryTypes } from './check-entry-types.mjs'

/**
 * Throws with the output of the first use that fails. `blocks` is the code that documents show, `options` are those of the
 * compiler that they recommend.
 */
export async function checkConsumer(consumer, { blocks, options }) {
  const { folder, packages, addOptionalPeers, addOthers } = consumer
  const entries = packages.flatMap(entryPoints)
  const execute = (name, text) => {
    writeFileSync(join(folder, name), text)
    return capture(process.execPath, [name], { cwd: folder })
  }
  const mains = packages.filter(hasMain).map(({ name }) => name)
  await execute('without-optional-peers.mjs', mains.map((name) => `await import('${name}')\n`).join(''))
  checkEntryTypes(consumer, entries)
  addOptionalPeers()
  await execute('esm.mjs', entries.map((entry) => `await import('${entry}')\n`).join(''))
  await execute('common.cjs', entries.map((entry) => `require('${entry}')\n`).join(''))
  await execute('plugins.cjs', plugins(packages))
  addOthers()
  for (const [version, tsc] of await compilers(folder)) {
    const problems = await checkTypes(folder, { entries, blocks, options, tsc })
    if (problems.length > 0) {
      throw new Error(`the declarations do not compile with TypeScript ${version}:\n${problems.join('\n')}`)
    }
  }
}

/** A command is imported by nobody. */
const hasMain = ({ exports }) => '.' in exports

/** Every subpath of the exports map that holds code. */
function entryPoints({ name, exports }) {
  return Object.keys(exports)
    .filter((path) => !/\.(?:json|css)$/.test(path))
    .map((path) => name + path.slice(1))
}

/** A CommonJS application hands the whole module to register, which takes its default export. Core has two plugins, and none. */
function plugins(packages) {
  const others = packages.filter((each) => hasMain(each) && each.name !== '@fastify-modular/core')
  const lines = others.map(({ name }) => `check('${name}', require('${name}').default)`)
  const check = (name, plugin) => {
    const isPlugin = typeof plugin === 'function' && plugin[Symbol.for('plugin-meta')]?.name.startsWith(name)
    if (!isPlugin) throw new Error(`${name} has no plugin of that name as default export`)
  }
  return `const check = ${check.toString()}\n${lines.join('\n')}\n`
}

/** The compiler of this repository, and its neighbours from the registry. */
async function compilers(folder) {
  const all = [[manifestOf('node_modules/typescript').version, resolve('node_modules/typescript/bin/tsc')]]
  for (const version of ['5.9.3', '7.0.2']) {
    const prefix = join(folder, `typescript-${version}`)
    await npmInstall(['--no-audit', '--no-fund', '--prefix', prefix, `typescript@${version}`])
    all.push([version, join(prefix, 'node_modules/typescript/bin/tsc')])
  }
  return all
}

/**
 * Returns what is wrong with our declarations, which are checked whole (skipLibCheck off), and with the code of documents.
 * Mistakes inside other people's packages are theirs.
 */
async function checkTypes(folder, { entries, blocks, options, tsc }) {
  const compilerOptions = { ...options, ...strictest }
  const files = {
    'esm.mts': entries.map((entry, i) => `export * as m${i} from '${entry}'\n`).join(''),
    'common.cts': entries.map((entry, i) => `import m${i} = require('${entry}')\nvoid m${i}\n`).join(''),
  }
  for (const [index, { code, language }] of blocks.entries()) files[documentName(index, language)] = code
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  cpSync('packages/create-fastify-modular/template/src/sign-in.ts', join(folder, 'sign-in.ts')) // the guide about deploying builds on it
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(files) }))
  return (await compile(folder, tsc)).filter(isOurs).map((line) => nameDocument(line, blocks))
}

/** Returns the compiler's messages, one line each. */
async function compile(folder, tsc) {
  try {
    await capture(process.execPath, [tsc, '--project', '.', '--pretty', 'false'], { cwd: folder })
    return []
  } catch (error) {
    const messages = error.message.split('\n').filter((line) => /error TS\d+/.test(line))
    if (messages.length === 0) throw error
    return messages
  }
}

function isOurs(line) {
  const isForeignFile =
    /^[^(]*node_modules\//.test(line) && !/^node_modules\/@fastify-modular\/[^/]+\/dist\//.test(line)
  const isForeignModule = /^document-.*TS2307: Cannot find module '(?!@fastify-modular\/|fastify')/.test(line)
  return !isForeignFile && !isForeignModule
}

/** TypeScript knows no ending for JSX in an ES module: the package.json says that it is one. */
function documentName(index, language) {
  return `document-${index}.${language === 'tsx' ? 'tsx' : 'mts'}`
}

/** `document-3.mts(5,1): …` → `packages/core/README.md:47: …` */
function nameDocument(line, blocks) {
  return line.replace(/^document-(\d+)\.(?:mts|tsx)\((\d+),\d+\)/, (_, index, offset) => {
    const { path, line: start } = blocks[Number(index)]
    return `${path}:${start + Number(offset) - 1}`
  })
}

/** What an application may add to the documented options. */
const strictest = {
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  jsx: 'react-jsx',
  noEmit: true,
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: false, // a CommonJS application writes `import x = require('x')`
}
