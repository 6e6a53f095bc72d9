/** Slows down whoever tries passwords, by account and by where the attempts come from. */
import { isIPv6 } from 'node:net'
import { createThrottle } from './throttle.ts'

export interface SignInThrottle {
  /** Counts an attempt. Seconds to wait when there were too many, else 0. */
  take(account: string, address: string): number
  /** Forgets the attempts for this account from there, and that this one was made: it was right. */
  reset(account: string, address: string): void
}

/**
 * Ten failed attempts a minute for one account, a hundred for all accounts together, from one network. The second bound
 * comes first: it also keeps a flood of made-up names from pushing others out of memory.
 */
export function createSignInThrottle(now: () => number = Date.now): SignInThrottle {
  const networks = createThrottle({ limit: 100 }, now)
  const accounts = createThrottle({ limit: 10 }, now)
  const keyOf = (account: string, address: string): string => `${account} ${networkOf(address)}`
  return {
    take(account, address) {
      return networks.take(networkOf(address)) || accounts.take(keyOf(account, address))
    },
    reset(account, address) {
      accounts.reset(keyOf(account, address))
      networks.giveBack(networkOf(address))
    },
  }
}

/** The address itself, or the /64 of an IPv6 address: its lower half is the client's to choose. */
export function networkOf(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...(tail?.split(':') ?? [])]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
