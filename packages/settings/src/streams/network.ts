/** Whose an address of a stranger is. */
import { isIPv6 } from 'node:net'

/**
 * Of an IPv6 address its first 64 bits, such as `2001:db8:0:1::`: the rest is its client's to choose. An IPv4 address that
 * is written as one of IPv6 is that of IPv4. What else there is stays as it is.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [withoutZone = ''] = address.split('%')
  const shortest = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = shortest.split('::').map((part) => part.split(':').filter(Boolean))
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  const [high, low] = groups.slice(6).map((group) => Number.parseInt(group, 16))
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff' && high !== undefined && low !== undefined)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  return `${groups.slice(0, 4).join(':')}::`
}
