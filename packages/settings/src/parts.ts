/** The parts of the service that its operations use. */
import type { SettingState } from './memory/shared-values.ts'
import type { LockedValue } from './overrides.ts'
import type { FindMembership } from './tenants.ts'
import type { Encryption } from './secrets/encryption.ts'
import type { Write, WriteInit } from './write/write.ts'

export interface Parts extends WriteInit {
  readonly write: Write
  readonly encryption: Encryption
  /** What memory takes for the host's locked values. */
  readonly locked: Map<string, LockedValue>
  /** Finds the tenant of a request; undefined without the option `tenants`. */
  readonly findMembership: FindMembership | undefined
  /** Whether users change their own values without the permission. */
  readonly selfService: boolean
  /** All settings in the order of lists: group, order, key. */
  readonly states: () => readonly SettingState[]
}
