/** The reader of server-sent events. */
import { test } from 'tap'
import { readEvents, type StreamEvent } from '#src/client/events.js'

async function read(...portions: readonly (string | Uint8Array)[]) {
  const events: StreamEvent[] = []
  let bytes = 0
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const portion of portions)
        controller.enqueue(typeof portion === 'string' ? new TextEncoder().encode(portion) : portion)
      controller.close()
    },
  })
  await readEvents(
    stream,
    () => bytes++,
    (event) => void events.push(event),
  )
  return { events, bytes }
}

test('events are read wherever the network cuts them', async (t) => {
  const text = 'id: 1-a\nevent: change\ndata: {"ü":\ndata: 1}\n\nid: 2-b\n\n: a comment\n\ndata:x\n\n'
  const expected = [
    { id: '1-a', event: 'change', data: '{"ü":\n1}' },
    { id: '2-b', event: '', data: '' },
    { id: undefined, event: '', data: '' },
    { id: undefined, event: '', data: 'x' },
  ]
  const bytes = new TextEncoder().encode(text)
  const crlf = new TextEncoder().encode(text.replaceAll('\n', '\r\n'))
  t.same((await read(bytes)).events, expected)
  t.same((await read(crlf)).events, expected)
  for (let cut = 0; cut < bytes.length; cut++)
    t.same((await read(bytes.slice(0, cut), bytes.slice(cut))).events, expected, `cut at ${cut}`)
  t.same((await read(...Array.from(crlf, (byte) => Uint8Array.of(byte)))).events, expected)
})

test('data may have the line ends of other languages, which JSON does not escape', async (t) => {
  const data = JSON.stringify('a\u2028b\u2029c')
  t.match((await read(`event: change\ndata: ${data}\n\n`)).events, [{ event: 'change', data }])
})

test('an event that the end of the answer cuts off is dropped', async (t) => {
  t.same(await read('data: 1\n\ndata: 2\n'), { events: [{ id: undefined, event: '', data: '1' }], bytes: 1 })
})
