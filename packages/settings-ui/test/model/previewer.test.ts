/** The preview where components are mounted twice, as React does in development. */
import { test } from 'tap'
import { Previewer } from '#src/browser/model/previewer.js'
import { startEditor } from '../support/editor.js'
import { createHost } from '../support/host.js'

test('a preview that was ended before its frame came starts again', async (t) => {
  const frames: (() => void)[] = []
  const nextFrame = () => frames.splice(0).forEach((draw) => draw())
  t.intercept(globalThis, 'requestAnimationFrame', { value: (draw: () => void) => frames.push(draw) })
  t.intercept(globalThis, 'cancelAnimationFrame', { value: (frame: number) => frames.splice(frame - 1, 1) })
  const { editor, enter } = await startEditor(await createHost(t))
  const shown: unknown[] = []
  const previewer = new Previewer(editor, () => ({
    preview: { 'app.title': 'title' },
    onPreview: (key, value) => shown.push([key, value]),
  }))
  const end = previewer.start()
  enter('app.title', 'One')
  end()
  nextFrame()
  t.same(shown, [])
  const endAgain = previewer.start()
  enter('app.title', 'Two')
  nextFrame()
  t.same(shown, [['app.title', 'Two']])
  endAgain()
  t.same(shown.at(-1), ['app.title', undefined])
})
