/** Optional peers, which an application installs only for the parts that need them. */
import { FMOD_CORE_PEER_MISSING } from '../misuse-errors.ts'

/** Imports an optional peer. @throws {FMOD_CORE_PEER_MISSING} the import fails */
export async function loadPeer<T>(peer: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    throw Object.assign(new FMOD_CORE_PEER_MISSING(peer), { cause })
  }
}
