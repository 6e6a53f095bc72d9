/** The messages of PostgreSQL's protocol: one byte of type, four of length, the rest. */

/** Returns a function that takes the next bytes of a stream and returns the messages that they complete. */
export function createMessageReader(): (bytes: Buffer) => Buffer[] {
  let rest = Buffer.alloc(0)
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    const messages: Buffer[] = []
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const end = 1 + rest.readUInt32BE(1) // the length counts itself
      messages.push(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
    return messages
  }
}
