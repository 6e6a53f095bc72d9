/** Values of settings in components, followed as they change. */
import {
  createContext,
  createElement,
  type ReactNode,
  useCallback,
  useContext,
  useMemo,
  useSyncExternalStore,
} from 'react'
import type { LiveClient } from '../client/live.ts'
import { type DynamicKey, keyOf, type SettingKeyMap, type SettingToken } from '../definitions/tokens.ts'
import type { JsonValue, SettingDefinition } from '../setting-definition.ts'
import { decodeDefault } from '../values/json.ts'

type FollowingClient = Pick<LiveClient, 'watch' | 'known' | 'first'>

const Context = createContext<FollowingClient | undefined>(undefined)

/** Gives a client to the components below, all of which share its stream. */
export function SettingsProvider(props: {
  readonly client: FollowingClient
  readonly children?: ReactNode
}): ReactNode {
  return createElement(Context.Provider, { value: props.client }, props.children)
}

/**
 * Returns the value that holds for the caller; until it is known that of the page's data block, and else the default of
 * the token, or undefined for a key. The component renders again when this value changes, and for no other setting.
 * @throws {Error} there is no `SettingsProvider` above
 */
export function useSetting<T>(token: SettingToken<T>): T
export function useSetting<K extends keyof SettingKeyMap & string>(key: K): SettingKeyMap[K] | undefined
export function useSetting<K extends string>(key: DynamicKey<K>): JsonValue | undefined
export function useSetting(reference: string | SettingDefinition): JsonValue | undefined {
  const client = useContext(Context)
  if (!client) throw new Error('useSetting needs a SettingsProvider above the component.')
  const key = keyOf(reference)
  const subscribe = useCallback((onChange: () => void) => client.watch(key, onChange), [client, key])
  const value = useSyncExternalStore(
    subscribe,
    () => client.known(key),
    () => client.first(key),
  )
  // The same object in each render.
  const preset = useMemo(() => defaultOf(reference), [reference])
  return value === undefined ? preset : value
}

function defaultOf(reference: string | SettingDefinition): JsonValue | undefined {
  if (typeof reference === 'string') return undefined
  const { type, defaultValue = null } = reference
  return defaultValue === null ? null : decodeDefault(type, defaultValue)
}
