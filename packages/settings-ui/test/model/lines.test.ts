import fc from 'fast-check'
import { test } from 'tap'
import { diffLines, type Line } from '#src/browser/diff/diff.js'

const signs = { same: ' ', removed: '-', added: '+' } as const
const show = (lines: readonly Line[]): string[] =>
  lines.map((line) => (line.kind === 'gap' ? `… ${line.count}` : signs[line.kind] + line.text))

test('lines that were changed stand between those that were not', async (t) => {
  t.same(show(diffLines('a\nb\nc', 'a\nx\nc')), [' a', '-b', '+x', ' c'])
  t.same(show(diffLines('a\nc', 'a\nb\nc')), [' a', '+b', ' c'])
  t.same(show(diffLines('', 'a')), ['+a'])
  t.same(show(diffLines('a\nb', '')), ['-a', '-b'])
  t.same(show(diffLines('a', 'a')), [])
})

test('a line that moved is removed in one place and added in another', async (t) => {
  t.same(show(diffLines('a\nb\nc', 'b\nc\na')), ['-a', ' b', ' c', '+a'])
})

test('equal lines far from any change are counted', async (t) => {
  const lines = Array.from({ length: 20 }, (_, index) => String(index))
  const after = lines.with(10, 'x')
  t.same(show(diffLines(lines.join('\n'), after.join('\n'))), [
    '… 8',
    ' 8',
    ' 9',
    '-10',
    '+x',
    ' 11',
    ' 12',
    '… 7',
  ])
})

test('from any text to any other: what is not removed is the one, what is not added the other', async () => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', '{'), { maxLength: 30 })
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const lines = diffLines(before.join('\n'), after.join('\n'))
      const left = lines.reduce((sum, line) => sum + sizeOf(line, 'added'), 0)
      const right = lines.reduce((sum, line) => sum + sizeOf(line, 'removed'), 0)
      const isEqual = before.join('\n') === after.join('\n')
      return isEqual ? lines.length === 0 : left === before.length && right === after.length
    }),
  )
})

function sizeOf(line: Line, left: 'added' | 'removed'): number {
  if (line.kind === 'gap') return line.count
  return line.kind === left ? 0 : 1
}

test('texts of thousands of lines are compared at once', async (t) => {
  const long = (from: number) => Array.from({ length: 5000 }, (_, index) => String(from + index)).join('\n')
  const lines = diffLines(long(0), long(10_000))
  t.equal(lines.length, 10_000)
})
