/** Stores that differ from others in some members. */
import type {
  OwnedStore,
  StorePort,
  SharedStore,
  StoreInfo,
  WriteRequest,
  WriteResult,
} from '#src/store/store.js'

type Write = (request: WriteRequest) => Promise<WriteResult>

export interface StoreChanges extends Partial<Omit<StorePort, 'info' | 'shared' | 'owned'>> {
  readonly info?: Partial<StoreInfo>
  readonly shared?: Partial<SharedStore>
  readonly owned?: Partial<OwnedStore>
  /** In place of both writes; `inner` is the one that it replaces. */
  write?(request: WriteRequest, inner: Write): Promise<WriteResult>
}

/** The store, which is a plain object, with other members. */
export function changedStore(store: StorePort, changes: StoreChanges): StorePort {
  const { info, shared, owned, write, ...others } = changes
  const around = (request: WriteRequest, inner: Write) => (write ? write(request, inner) : inner(request))
  return {
    ...store,
    ...others,
    info: { ...store.info, ...info },
    shared: {
      ...store.shared,
      write: (request) => around(request, (given) => store.shared.write(given)),
      ...shared,
    },
    owned: {
      ...store.owned,
      write: (owner, request) => around(request, (given) => store.owned.write(owner, given)),
      ...owned,
    },
  }
}
