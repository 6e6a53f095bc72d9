/** Stores that differ from others in some members. */
import type {
  SettingsStore,
  SharedStore,
  StoreInfo,
  UserStore,
  WriteRequest,
  WriteResult,
} from '#src/store/store.js'

type Write = (request: WriteRequest) => Promise<WriteResult>

export interface StoreChanges extends Partial<Omit<SettingsStore, 'info' | 'shared' | 'users'>> {
  readonly info?: Partial<StoreInfo>
  readonly shared?: Partial<SharedStore>
  readonly users?: Partial<UserStore>
  /** In place of both writes; `inner` is the one that it replaces. */
  write?(request: WriteRequest, inner: Write): Promise<WriteResult>
}

/** The store, which is a plain object, with other members. */
export function changedStore(store: SettingsStore, changes: StoreChanges): SettingsStore {
  const { info, shared, users, write, ...others } = changes
  const writing = (kind: 'shared' | 'users') => ({
    write: (request: WriteRequest) => {
      const inner: Write = (given) => store[kind].write(given)
      return write ? write(request, inner) : inner(request)
    },
  })
  return {
    ...store,
    ...others,
    info: { ...store.info, ...info },
    shared: { ...store.shared, ...writing('shared'), ...shared },
    users: { ...store.users, ...writing('users'), ...users },
  }
}
