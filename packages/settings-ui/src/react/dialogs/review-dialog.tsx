/** All unsaved changes, old and new. */
import type { ReactNode } from 'react'
import { displayValue } from '../model/display-value.ts'
import { useEditor, usePage } from '../shared/page-context.ts'
import { Dialog } from '../shared/dialog.tsx'

export function ReviewDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { editor, messages } = usePage()
  const { drafts, values, definitions } = useEditor((state) => state)
  const saveAll = (): void => {
    onClose()
    void editor.save()
  }
  const actions = (
    <button type="button" className="fm-primary" onClick={saveAll}>
      {messages.save}
    </button>
  )
  return (
    <Dialog title={messages.reviewTitle} onClose={onClose} actions={actions}>
      <dl>
        {definitions.map((definition) => {
          const { key, displayName, sensitive, confirm, restart } = definition
          const draft = drafts.get(key)
          if (!draft) return null
          return (
            <div key={key}>
              <dt>
                {displayName} <code dir="ltr">{key}</code>
              </dt>
              <dd>
                {!sensitive && (
                  <del>{displayValue(definition, values.get(key)?.value ?? null, messages)}</del>
                )}{' '}
                <ins>{displayValue(definition, draft.input, messages)}</ins>
              </dd>
              {confirm && <dd className="fm-error">{confirm}</dd>}
              {restart && <dd>{messages.restart}</dd>}
            </div>
          )
        })}
      </dl>
    </Dialog>
  )
}
