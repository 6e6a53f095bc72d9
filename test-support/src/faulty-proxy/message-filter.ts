/** Leaves messages out of the stream that a PostgreSQL server sends: one byte of type, four of length, the rest. */

/** Returns a function that takes the next chunk of the stream and returns what is left of it. `keeps` is called with the type of each message. */
export function createMessageFilter(keeps: (type: string) => boolean): (chunk: Buffer) => Buffer {
  let header = Buffer.alloc(0)
  let rest = 0
  let isKept = true

  return (chunk) => {
    const kept: Buffer[] = []
    let at = 0
    while (at < chunk.length) {
      const part = chunk.subarray(at, at + (rest > 0 ? rest : headerLength - header.length))
      at += part.length
      if (rest > 0) {
        rest -= part.length
        if (isKept) kept.push(part)
        continue
      }
      header = Buffer.concat([header, part])
      if (header.length < headerLength) break
      isKept = keeps(header.toString('latin1', 0, 1))
      rest = header.readUInt32BE(1) - 4 // the length counts itself
      if (isKept) kept.push(header)
      header = Buffer.alloc(0)
    }
    return Buffer.concat(kept)
  }
}

const headerLength = 5
