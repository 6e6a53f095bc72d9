/** Marks the words of a search where they stand. */
import { fold } from '../../texts/messages.ts'

const name = 'fm-match'

/** Returns what takes the marks away again. */
export function highlight(root: Element | null, words: readonly string[]): (() => void) | undefined {
  if (!('highlights' in CSS) || words.length === 0) return undefined
  const texts = root?.querySelectorAll('.fm-name label, .fm-about bdi, .fm-alias span, .fm-hits bdi') ?? []
  const ranges = [...texts].flatMap((element) => rangesOf(element, words))
  // One for all pages in the document: each takes its own ranges away.
  const marks = CSS.highlights.get(name) ?? new Highlight()
  CSS.highlights.set(name, marks)
  for (const range of ranges) marks.add(range)
  return () => {
    for (const range of ranges) marks.delete(range)
  }
}

function rangesOf(element: Element, words: readonly string[]): Range[] {
  const node = element.firstChild
  if (!(node instanceof Text)) return []
  const text = fold(node.data)
  // Where folding changes the length, offsets would mark something else.
  if (text.length !== node.data.length) return []
  return words.flatMap((word) => {
    const ranges: Range[] = []
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      const range = new Range()
      range.setStart(node, at)
      range.setEnd(node, at + word.length)
      ranges.push(range)
    }
    return ranges
  })
}
