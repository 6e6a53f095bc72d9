/** Sorts modules by their dependencies, or names the modules that make that impossible (decision 49). */
import {
  FMOD_CORE_DEPENDENCY_CYCLE,
  FMOD_CORE_DUPLICATE_MODULE,
  FMOD_CORE_UNKNOWN_DEPENDENCY,
} from '../misuse-errors.ts'
import { checkModule, type ModuleCore } from './module.ts'

/**
 * The modules, each after all it depends on; ties stay in the order given.
 * @throws {FMOD_CORE_INVALID_MODULE} a module has no name, or a member of the wrong type
 * @throws {FMOD_CORE_DUPLICATE_MODULE} two modules share a name
 * @throws {FMOD_CORE_UNKNOWN_DEPENDENCY} a dependency that is not optional is not in the list
 * @throws {FMOD_CORE_DEPENDENCY_CYCLE} modules depend on each other; the message prints the path
 */
export function orderModules<M extends Pick<ModuleCore, 'name' | 'dependsOn' | 'optionalDependsOn'>>(
  modules: readonly M[],
): M[] {
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
    for (const name of module.optionalDependsOn ?? []) {
      const dependency = byName.get(name)
      if (dependency) visit(dependency)
    }
    path.pop()
    ordered.add(module)
  }

  for (const module of modules) visit(module)
  return [...ordered]
}

function indexByName<M extends { readonly name: string }>(modules: readonly M[]): Map<string, M> {
  const byName = new Map<string, M>()
  for (const module of modules) {
    checkModule(module)
    if (byName.has(module.name)) throw new FMOD_CORE_DUPLICATE_MODULE(module.name)
    byName.set(module.name, module)
  }
  return byName
}
