/** The permissions of an application: what routes may require and role editors offer. */
import { closestName } from '@fastify-modular/core/internal'
import { FMOD_PUBLIC_ROUTES_INVALID_PERMISSION } from '../misuse-errors.ts'
import { faultOfPermission } from './declaration.ts'

/** How people see a permission. */
export interface PermissionDetails {
  /** `Edit notes`. @default the name */
  readonly displayName?: string
  /** One sentence for role editors. */
  readonly description?: string
}

export interface Permission {
  /** `Notes.Edit`; a caller with `Notes.*` or `*` holds it, too. */
  readonly name: string
  readonly displayName: string
  readonly description: string
  /** What declares it: `module "notes"`, `application`. */
  readonly source: string
}

/** Adds permissions in the name of one contributor. */
export interface PermissionsBuilder {
  /**
   * Declares a permission.
   * @throws {FMOD_PUBLIC_ROUTES_INVALID_PERMISSION} a reserved word, a name that is taken, or an application that is ready
   */
  add(name: string, details?: PermissionDetails): this
}

/** What `app.permissions` is. */
export class Permissions implements PermissionsBuilder {
  readonly #byName = new Map<string, Permission>()
  #isFrozen = false

  add(name: string, details?: PermissionDetails): this {
    this.#add(name, details, 'application')
    return this
  }

  /** All permissions, sorted by name: for role editors. */
  list(): readonly Permission[] {
    return [...this.#byName.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** The declared name that a misspelt one probably means. */
  closestTo(name: string): string | undefined {
    return closestName(name, this.#byName.keys())
  }

  /** For one contributor. */
  builder(source: string): PermissionsBuilder {
    const add = this.#add.bind(this)
    return {
      add(name, details) {
        add(name, details, source)
        return this
      },
    }
  }

  freeze(): void {
    this.#isFrozen = true
  }

  #add(name: string, { displayName = name, description = '' }: PermissionDetails = {}, source: string): void {
    const known = this.#byName.get(name)
    const fault = this.#isFrozen
      ? 'the application is ready'
      : known !== undefined
        ? `${known.source} declares it`
        : faultOfPermission(name)
    if (fault !== null) throw new FMOD_PUBLIC_ROUTES_INVALID_PERMISSION(String(name), source, fault)
    this.#byName.set(name, Object.freeze({ name, displayName, description, source }))
  }
}
