/** Routes in the order of the literal text with which they begin, to find those that a rule's own text can meet. */
import { canMeet } from '../gate/reach.ts'
import type { RouteRecord } from '../gate/route-record.ts'
import type { PublicRoute } from '../public-route.ts'

interface Place {
  readonly head: string
  /** Position among all routes. */
  readonly at: number
}

export class RoutesByHead {
  readonly #records: readonly RouteRecord[]
  readonly #places: readonly Place[]
  readonly #byHead = new Map<string, Place[]>()

  constructor(records: readonly RouteRecord[]) {
    this.#records = records
    this.#places = records
      .flatMap(({ heads }, at) => heads.map((head) => ({ head, at })))
      .toSorted((one, other) => (one.head < other.head ? -1 : Number(one.head > other.head)))
    for (const place of this.#places) {
      const known = this.#byHead.get(place.head)
      if (known === undefined) this.#byHead.set(place.head, [place])
      else known.push(place)
    }
  }

  /** The routes for which `canMeet` is true, in their order. Cost: the routes found, but all routes for a suffix. */
  meeting(rule: PublicRoute): readonly RouteRecord[] {
    if (rule.kind === 'suffix') return this.#records.filter((record) => canMeet(rule, record))
    const found = new Set<number>()
    for (const { at } of this.#beginningLike(rule.literal)) found.add(at)
    for (let end = 0; end < rule.literal.length; end++) {
      for (const { at } of this.#byHead.get(rule.literal.slice(0, end)) ?? []) found.add(at)
    }
    return [...found].toSorted((one, other) => one - other).flatMap((at) => this.#records[at] ?? [])
  }

  /** All places whose head starts with the text: they stand side by side. */
  #beginningLike(text: string): readonly Place[] {
    const start = firstWhere(this.#places, ({ head }) => head >= text)
    const length = firstWhere(this.#places.slice(start), ({ head }) => !head.startsWith(text))
    return this.#places.slice(start, start + length)
  }
}

/** The first index that passes a test which all later ones pass too, by halving. */
function firstWhere<T>(items: readonly T[], passes: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    const item = items[middle]
    if (item !== undefined && passes(item)) high = middle
    else low = middle + 1
  }
  return low
}
