/**
 * The hub of changes: whoever changes what memory holds says so here, and whatever follows changes hangs here. Nobody who
 * applies a change has to know who follows it.
 */
import type { WriteResult } from '../store/store.ts'
import type { SharedChange } from './shared-values.ts'
import type { ChangedOwners } from './owned-values.ts'

/** A write of this process that is committed. */
export interface LocalWrite extends WriteResult {
  readonly actor: string | null
}

/** Called after memory has changed, in the same turn of the event loop. Must not throw. */
interface Follower {
  shared?(change: SharedChange): void
  owned?(changed: ChangedOwners): void
  /** Windows may have been opened or settled. */
  windows?(): void
  /** The set of open windows has changed, as it was read. */
  opened?(isAny: boolean): void
  /** This process has written, and memory has it. */
  wrote?(write: LocalWrite): void
}

export class Changes {
  readonly #followers: Follower[] = []

  /** Followers are called in their order. */
  follow(follower: Follower): void {
    this.#followers.push(follower)
  }

  /** Call it when memory holds shared values, or locked ones, anew. */
  shared(change: SharedChange): void {
    for (const follower of this.#followers) follower.shared?.(change)
  }

  /** Call it when the database may have other windows than before. */
  windows(): void {
    for (const follower of this.#followers) follower.windows?.()
  }

  /** Call it when other windows are open than before. */
  opened(isAny: boolean): void {
    for (const follower of this.#followers) follower.opened?.(isAny)
  }

  /** Call it when values of users or tenants have changed, or may have: memory forgets them. */
  owned(changed: ChangedOwners): void {
    for (const follower of this.#followers) follower.owned?.(changed)
  }

  /** Call it when memory has taken a write of this process. */
  wrote(write: LocalWrite): void {
    for (const follower of this.#followers) follower.wrote?.(write)
  }
}
