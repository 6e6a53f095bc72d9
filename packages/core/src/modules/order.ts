/** Sorts modules by their dependencies, or names the modules that make that impossible (decision 49). */
import {
  FMOD_CORE_DEPENDENCY_CYCLE,
  FMOD_CORE_DUPLICATE_MODULE,
  FMOD_CORE_INVALID_MODULE,
  FMOD_CORE_UNKNOWN_DEPENDENCY,
} from '../misuse-errors.ts'
import type { ModuleCore } from './module.ts'

/**
 * The modules, each after all it depends on; ties stay in the order given.
 * @throws {FMOD_CORE_INVALID_MODULE} a module has no name
 * @throws {FMOD_CORE_DUPLICATE_MODULE} two modules share a name
 * @throws {FMOD_CORE_UNKNOWN_DEPENDENCY} a dependency is not in the list
 * @throws {FMOD_CORE_DEPENDENCY_CYCLE} modules depend on each other; the message prints the path
 */
export function orderModules<M extends Pick<ModuleCore, 'name' | 'dependsOn'>>(modules: readonly M[]): M[] {
  const byName = indexByName(modules)
  const ordered = new Set<M>()
  const path: string[] = []

  function visit(module: M): void {
    if (ordered.has(module)) return
    if (path.includes(module.name)) {
      const cycle = [...path.slice(path.indexOf(module.name)), module.name]
      throw new FMOD_CORE_DEPENDENCY_CYCLE(cycle.join(' → '))
    }
    path.push(module.name)
    for (const name of module.dependsOn ?? []) {
      const dependency = byName.get(name)
      if (!dependency) throw new FMOD_CORE_UNKNOWN_DEPENDENCY(module.name, name)
      visit(dependency)
    }
    path.pop()
    ordered.add(module)
  }

  for (const module of modules) visit(module)
  return [...ordered]
}

/** Fastify would report an invalid plugin without the name of its module. */
function checkMembers(module: { readonly name: string } & Partial<ModuleCore>): void {
  for (const member of ['plugin', 'onReady', 'onClose'] as const) {
    const value: unknown = module[member]
    if (value !== undefined && typeof value !== 'function') {
      throw new FMOD_CORE_INVALID_MODULE(module.name, `its ${member} is not a function`)
    }
  }
  if (module.dependsOn !== undefined && !Array.isArray(module.dependsOn)) {
    throw new FMOD_CORE_INVALID_MODULE(module.name, 'its dependsOn is not a list of names')
  }
}

function indexByName<M extends { readonly name: string }>(modules: readonly M[]): Map<string, M> {
  const byName = new Map<string, M>()
  for (const module of modules) {
    if (typeof module?.name !== 'string' || module.name === '') {
      throw new FMOD_CORE_INVALID_MODULE(String(module?.name), 'a module needs a name that is not empty')
    }
    if (byName.has(module.name)) throw new FMOD_CORE_DUPLICATE_MODULE(module.name)
    checkMembers(module)
    byName.set(module.name, module)
  }
  return byName
}
