/**
 * Request targets, methods and headers that have opened gates elsewhere: spellings of a path that a guard and a router
 * read differently, splices of public and protected paths, and headers that name another path or method. Deterministic.
 */

import {
  bridges,
  heads,
  methods,
  otherHeaders,
  overrideNames,
  publicTails,
  tails,
} from './hostile-requests/pieces.ts'

export interface HostileRequest {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

export interface RequestPaths {
  readonly protected: readonly string[]
  readonly public: readonly string[]
}

/** All requests of the systematic part, then `extra` random compositions drawn with `seed`. */
export function* hostileRequests(
  paths: RequestPaths,
  extra: number,
  seed: number,
): Generator<HostileRequest> {
  yield* systematic(paths)
  const random = generator(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] ?? (from[0] as T)
  const all = [...paths.protected, ...paths.public]
  for (let number = 0; number < extra; number++) {
    let target = pick(paths.protected)
    for (let step = 0, steps = 1 + Math.floor(random() * 4); step < steps; step++) {
      target = pick([
        () => target + pick(tails),
        () => pick(heads) + target.slice(1),
        () => pick(all) + pick(bridges) + target.slice(1),
        () => target + pick(bridges) + pick(all).slice(1),
        () => target + pick(bridges) + pick(publicTails),
        () => encodeAt(target, Math.floor(random() * target.length)),
        () => flipCase(target, Math.floor(random() * target.length)),
        () => splice(target, Math.floor(random() * target.length), pick([...bridges, ...tails])),
      ])()
    }
    const method = random() < 0.7 ? 'GET' : pick(methods)
    yield { method, target, headers: random() < 0.2 ? pick(otherHeaders) : {} }
  }
}

function* systematic({ protected: closed, public: open }: RequestPaths): Generator<HostileRequest> {
  const get = (target: string): HostileRequest => ({ method: 'GET', target, headers: {} })
  for (const path of closed) {
    for (const method of methods) yield { method, target: path, headers: {} }
    for (const tail of tails) yield get(path + tail)
    for (const bridge of bridges) for (const tail of publicTails) yield get(path + bridge + tail)
    for (const head of heads) yield get(head + path.slice(1))
    for (let at = 0; at < path.length; at++) {
      yield get(encodeAt(path, at))
      yield get(flipCase(path, at))
      yield get(encodeAt(path, at).replace('%', '%25'))
    }
    for (const other of open) {
      for (const bridge of bridges) {
        yield get(other + bridge + path.slice(1))
        yield get(path + bridge + other.slice(1))
      }
      for (const name of overrideNames) {
        yield { method: 'GET', target: path, headers: { [name]: other } }
        yield { method: 'GET', target: other, headers: { [name]: path } }
      }
    }
    for (const headers of otherHeaders) {
      for (const method of ['GET', 'POST', 'PATCH']) yield { method, target: path, headers }
    }
  }
}

function encodeAt(text: string, at: number): string {
  return `${text.slice(0, at)}%${text.charCodeAt(at).toString(16).padStart(2, '0')}${text.slice(at + 1)}`
}

function flipCase(text: string, at: number): string {
  const character = text.charAt(at)
  const flipped = character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase()
  return text.slice(0, at) + flipped + text.slice(at + 1)
}

function splice(text: string, at: number, insert: string): string {
  return text.slice(0, at) + insert + text.slice(at)
}

/** A small reproducible generator of numbers below one (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
