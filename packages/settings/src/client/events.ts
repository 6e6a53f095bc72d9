/** Reads server-sent events from the body of an answer: unlike `EventSource`, whoever called `fetch` knows its status. */

export interface StreamEvent {
  /** Undefined where the event sets none. */
  readonly id?: string | undefined
  /** Empty for what only sets the id. */
  readonly event: string
  readonly data: string
}

/** UTF-16 units of one event; the longest are those that have all settings. */
const longest = 32 * 1024 * 1024

/**
 * Resolves when the answer has ended.
 * @param onBytes called with each portion: the server is alive
 * @param onEvent the next event waits for what it returns
 * @throws {Error} it was cut off
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
  onEvent: (event: StreamEvent) => Promise<void> | undefined,
): Promise<void> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    onBytes()
    text = (text + decoder.decode(value, { stream: true })).replaceAll('\r\n', '\n')
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    if (text.length > longest) throw new Error('An event of the stream has no end.')
    for (const each of events) {
      const taken = onEvent(parse(each))
      if (taken) await taken // what arrived together is taken in one turn
    }
  }
}

function parse(text: string): StreamEvent {
  const fields: Record<string, string[]> = {}
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    ;(fields[name] ??= []).push(value)
  }
  return {
    id: fields['id']?.at(-1),
    event: fields['event']?.at(-1) ?? '',
    data: (fields['data'] ?? []).join('\n'),
  }
}
