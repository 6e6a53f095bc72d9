// Uses every entry point of the packed packages: import, require, and both kinds of TypeScript.
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { capture } from '../command.mjs'

/** Throws with the output of the first use that fails. */
export async function checkConsumer({ folder, packages, addOptionalPeers }) {
  const entries = packages.flatMap(entryPoints)
  const execute = (name, text) => {
    writeFileSync(join(folder, name), text)
    return capture(process.execPath, [name], { cwd: folder })
  }
  const mains = packages.map(({ name }) => name)
  await execute('without-optional-peers.mjs', mains.map((name) => `await import('${name}')\n`).join(''))
  addOptionalPeers()
  await execute('esm.mjs', entries.map((entry) => `await import('${entry}')\n`).join(''))
  await execute('common.cjs', entries.map((entry) => `require('${entry}')\n`).join(''))
  await execute('plugins.cjs', plugins(packages))
  await checkTypes(folder, entries)
}

/** Every subpath of the exports map that holds code. */
function entryPoints({ name, exports }) {
  return Object.keys(exports)
    .filter((path) => !path.endsWith('.json'))
    .map((path) => name + path.slice(1))
}

/** A CommonJS application hands the whole module to register, which takes its default export. */
function plugins(packages) {
  const lines = packages.map(({ name }) => `check('${name}', require('${name}').default)`)
  const check = (name, plugin) => {
    const isPlugin = typeof plugin === 'function' && plugin[Symbol.for('plugin-meta')]?.name === name
    if (!isPlugin) throw new Error(`${name} has no plugin of its own name as default export`)
  }
  return `const check = ${check.toString()}\n${lines.join('\n')}\n`
}

/** Declarations are checked whole (skipLibCheck off); mistakes inside other people's packages are theirs. */
async function checkTypes(folder, entries) {
  writeFileSync(
    join(folder, 'esm.mts'),
    entries.map((entry, i) => `export * as m${i} from '${entry}'\n`).join(''),
  )
  writeFileSync(
    join(folder, 'common.cts'),
    entries.map((entry, i) => `import m${i} = require('${entry}')\nvoid m${i}\n`).join(''),
  )
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  const tsc = resolve('node_modules/typescript/bin/tsc')
  const output = await capture(process.execPath, [tsc, '--pretty', 'false'], { cwd: folder }).catch(
    (error) => error.message,
  )
  const ours = output.split('\n').filter((line) => /error TS\d+/.test(line) && isOurs(line))
  if (ours.length > 0) throw new Error(`the declarations do not compile:\n${ours.join('\n')}`)
}

const isOurs = (line) =>
  !/^[^(]*node_modules\//.test(line) || /^node_modules\/@fastify-modular\/[^/]+\/(?!node_modules)/.test(line)

const tsconfig = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    jsx: 'react-jsx',
    types: ['node'],
    noEmit: true,
  },
  files: ['esm.mts', 'common.cts'],
}
