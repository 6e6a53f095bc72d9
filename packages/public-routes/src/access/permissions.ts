/** The permissions of an application: what routes may require and role editors offer. */
import { FMOD_CORE_ADDED_LATE } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'
import { errorCodes, nameOfValue } from '../misuse-errors.ts'
import { faultOfPermission } from './declaration.ts'

/** How people see a permission. */
interface PermissionDetails {
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

/** What opens something to callers and is no route: `{ about: 'setting mail.host', is: 'public' }`. */
export interface Fact {
  readonly about: string
  readonly is: string
}

/** Permissions by name, with their display names or details: `{ 'Notes.Edit': 'Edit notes' }`. */
export type PermissionMap = Readonly<Record<string, string | PermissionDetails>>

/** What `app.permissions` is. */
export interface Permissions {
  /** All permissions, sorted by name: for role editors. */
  list(): readonly Permission[]
  has(name: string): boolean
}

/**
 * What a package opens beside routes: rows of the committed file, read when the file is. It gets a request that carries
 * nothing; null where none may be sent.
 */
type ReadFacts = (stranger: FastifyRequest | null) => Promise<readonly Fact[]>

/** The permissions of the application and its modules, and those of our own packages, which call `addAll` and `addFacts`. */
export class DeclaredPermissions implements Permissions {
  readonly #byName = new Map<string, Permission>()
  readonly #facts: ReadFacts[] = []
  #isFrozen = false

  list(): readonly Permission[] {
    return [...this.#byName.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /**
   * Declares those of one contributor.
   * @throws {FMOD_PUBLIC_ROUTES_INVALID_PERMISSION} a reserved word, a name that is taken, or no object
   * @throws {FMOD_CORE_ADDED_LATE} the application is ready
   */
  addAll(permissions: PermissionMap, source: string): void {
    if (typeof permissions !== 'object' || permissions === null) {
      const fault = 'permissions are an object such as { "Notes.Edit": "Edit notes" }'
      throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_PERMISSION(nameOfValue(permissions), source, fault)
    }
    for (const [name, details] of Object.entries(permissions)) {
      if (this.#isFrozen)
        throw new FMOD_CORE_ADDED_LATE(`The permission "${name}"`, 'permissions while plugins register')
      const known = this.#byName.get(name)
      const fault = known === undefined ? faultOfPermission(name) : `${known.source} declares it`
      if (fault !== null) throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_PERMISSION(name, source, fault)
      const { displayName = name, description = '' } =
        typeof details === 'string' ? { displayName: details } : (details ?? {})
      this.#byName.set(name, Object.freeze({ name, displayName, description, source }))
    }
  }

  addFacts(read: ReadFacts): void {
    this.#facts.push(read)
  }

  async facts(stranger: FastifyRequest | null): Promise<readonly Fact[]> {
    return (await Promise.all(this.#facts.map((read) => read(stranger)))).flat()
  }

  freeze(): void {
    this.#isFrozen = true
  }
}
