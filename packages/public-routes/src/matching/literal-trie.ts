/** A radix trie: finds all values whose literal text starts (or, backward, ends) a path, in one walk along the path. */

interface Node<T> {
  label: string
  values: T[]
  children: Map<number, Node<T>>
}

export class LiteralTrie<T> {
  readonly #root: Node<T> = { label: '', values: [], children: new Map() }
  readonly #backward: boolean

  constructor(direction: 'forward' | 'backward') {
    this.#backward = direction === 'backward'
  }

  add(text: string, value: T): void {
    const label = this.#backward ? reverse(text) : text
    this.#nodeFor(label).values.push(value)
  }

  /** The first accepted value on the way along the path, shortest text first. Cost: the length of the path. */
  find(path: string, accept: (value: T) => boolean): T | undefined {
    const end = path.length
    let node = this.#root
    let at = 0
    while (true) {
      for (const value of node.values) if (accept(value)) return value
      if (at === end) return undefined
      const child = node.children.get(path.charCodeAt(this.#backward ? end - 1 - at : at))
      if (child === undefined || !this.#continues(child.label, path, at)) return undefined
      at += child.label.length
      node = child
    }
  }

  #continues(label: string, path: string, at: number): boolean {
    if (!this.#backward) return path.startsWith(label, at)
    if (label.length > path.length - at) return false
    for (let i = 0, j = path.length - 1 - at; i < label.length; i++, j--) {
      if (label.charCodeAt(i) !== path.charCodeAt(j)) return false
    }
    return true
  }

  #nodeFor(text: string): Node<T> {
    let node = this.#root
    let rest = text
    while (rest !== '') {
      const child = node.children.get(rest.charCodeAt(0))
      if (child === undefined) {
        const leaf: Node<T> = { label: rest, values: [], children: new Map() }
        node.children.set(rest.charCodeAt(0), leaf)
        return leaf
      }
      const shared = sharedLength(child.label, rest)
      node = shared === child.label.length ? child : split(node, child, shared)
      rest = rest.slice(shared)
    }
    return node
  }
}

/** Puts a node between parent and child that ends where their texts part. */
function split<T>(parent: Node<T>, child: Node<T>, length: number): Node<T> {
  const middle: Node<T> = { label: child.label.slice(0, length), values: [], children: new Map() }
  child.label = child.label.slice(length)
  middle.children.set(child.label.charCodeAt(0), child)
  parent.children.set(middle.label.charCodeAt(0), middle)
  return middle
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length++
  return length
}

/** By code unit, as the walk compares; surrogate pairs come apart and meet again the same way. */
function reverse(text: string): string {
  let reversed = ''
  for (let at = text.length - 1; at >= 0; at--) reversed += text.charAt(at)
  return reversed
}
