/** Sorts modules by their dependencies, or names the modules that make that impossible (decision 49). */
import { errorCodes } from '../misuse-errors.ts'
import { checkModule, type Module } from './module.ts'

/**
 * The modules, each after all it depends on; ties stay in the order given.
 * @throws {FMOD_CORE_INVALID_MODULE} a module has no name, or a member of the wrong type
 * @throws {FMOD_CORE_DUPLICATE_MODULE} two modules share a name
 * @throws {FMOD_CORE_UNKNOWN_DEPENDENCY} a dependency that is not optional is not in the list
 * @throws {FMOD_CORE_DEPENDENCY_CYCLE} modules depend on each other; the message prints the path
 */
export function orderModules(modules: readonly Module[]): Module[] {
  const byName = new Map<string, Module>()
  for (const module of modules) {
    checkModule(module)
    if (byName.has(module.name)) throw new errorCodes.FMOD_CORE_DUPLICATE_MODULE(module.name)
    byName.set(module.name, module)
  }
  const ordered = new Set<Module>()
  const path: string[] = []

  function visit(module: Module): void {
    if (ordered.has(module)) return
    const { name, dependsOn = [], optionalDependsOn = [] } = module
    if (path.includes(name)) {
      const cycle = [...path.slice(path.indexOf(name)), name]
      throw new errorCodes.FMOD_CORE_DEPENDENCY_CYCLE(cycle.join(' → '))
    }
    path.push(name)
    for (const other of [...dependsOn, ...optionalDependsOn]) {
      const dependency = byName.get(other)
      if (dependency) visit(dependency)
      else if (dependsOn.includes(other)) throw new errorCodes.FMOD_CORE_UNKNOWN_DEPENDENCY(name, other)
    }
    path.pop()
    ordered.add(module)
  }

  for (const module of modules) visit(module)
  return [...ordered]
}
