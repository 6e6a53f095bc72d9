/** Export as a file, and the way to an import. */
import type { ReactNode } from 'react'
import { format } from '../messages/format.ts'
import { toFailure } from '../model/source.ts'
import { usePage } from '../shared/page-context.ts'
import { failureText } from '../shared/failure-text.ts'

export function TransferMenu(): ReactNode {
  const { api, editor, messages, open } = usePage()

  async function download(): Promise<void> {
    try {
      const content = await api.exportSettings()
      const url = URL.createObjectURL(new Blob([`${JSON.stringify(content, null, 2)}\n`]))
      const link = Object.assign(document.createElement('a'), { href: url, download: 'settings.json' })
      link.click()
      URL.revokeObjectURL(url)
      editor.announce(format(messages.exportDone, { count: content.settings.length }))
    } catch (error) {
      editor.announce(failureText(toFailure(error), messages))
    }
  }

  return (
    <div className="fm-transfer" role="group" aria-label={messages.transfer}>
      <button type="button" className="fm-quiet" onClick={() => void download()}>
        {messages.export}
      </button>
      <button type="button" className="fm-quiet" onClick={() => open({ kind: 'import' })}>
        {messages.import}
      </button>
    </div>
  )
}
