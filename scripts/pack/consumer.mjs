// An application that has the packed packages installed. No registry is asked: what the packages depend on is
// linked from this repository, each dependency where only its owner sees it, so that an undeclared one is missed.
import { cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { manifestOf, packageFolders } from '../files.mjs'

/** Creates the application. Packages are `{ folder, content, manifest }`. */
export function createConsumer(folder, packages) {
  const modules = join(folder, 'node_modules')
  for (const { content, manifest } of packages) {
    cpSync(content, join(modules, manifest.name), { recursive: true })
  }
  for (const each of packages) linkDependencies(each, modules)
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type: 'module' }),
  )
  link('node_modules/@types/node', join(modules, '@types/node'))
  for (const each of packages) linkPeers(each, modules, ({ isOptional }) => !isOptional)
  return {
    folder,
    packages: packages.map(({ manifest }) => manifest),
    /** Installs React and its types, which the entry points that are React components name. */
    addReact: () => {
      for (const name of ['react', '@types/react'])
        link(join(reactOwner(), 'node_modules', name), join(modules, name))
    },
    /** Installs what the subpaths of the packages need: database clients, React. */
    addOptionalPeers: () => {
      for (const each of packages) {
        linkPeers(each, modules, ({ isOptional }) => isOptional)
      }
    },
    /** Installs what an example names in its package.json; the packages themselves are there. */
    addDependencies: ({ dependencies }) => {
      for (const name of Object.keys(dependencies)) link(join('node_modules', name), join(modules, name))
    },
    /** Installs everything else that the code of documents may import, and the types of database clients. */
    addOthers: () => {
      for (const each of packageFolders()) linkAll(each, modules)
    },
  }
}

/** A folder of the workspace that has React installed. */
function reactOwner() {
  return packageFolders().find((folder) => existsSync(join(folder, 'node_modules/react')))
}

function linkDependencies({ folder, manifest }, modules) {
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const sibling = join(modules, name)
    if (existsSync(sibling)) continue // one of ours: found at the top like any installed package
    link(join(folder, 'node_modules', name), join(modules, manifest.name, 'node_modules', name))
  }
}

function linkPeers({ folder, manifest }, modules, isWanted) {
  for (const name of Object.keys(manifest.peerDependencies ?? {})) {
    const isOptional = manifest.peerDependenciesMeta?.[name]?.optional === true
    if (isWanted({ isOptional })) link(join(folder, 'node_modules', name), join(modules, name))
  }
}

function linkAll(folder, modules) {
  const { dependencies, devDependencies } = manifestOf(folder)
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    if (!name.startsWith('@fastify-modular/')) link(join(folder, 'node_modules', name), join(modules, name))
  }
}

function link(from, to) {
  if (existsSync(to)) return
  mkdirSync(dirname(to), { recursive: true })
  symlinkSync(realpathSync(from), to, 'junction')
}
