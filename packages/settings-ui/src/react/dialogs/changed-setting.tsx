/** One setting in a list of changes: from what to what, and what there is to know before. */
import type { ReactNode } from 'react'
import { Diff, type Side } from '../diff/diff.tsx'
import type { Definition } from '../model/setting.ts'

interface ChangedSettingProps {
  /** What to call it where nothing defines it. */
  readonly name: string
  readonly definition: Definition | undefined
  readonly from: Side
  readonly to: Side
  /** What is said of a secret, whose values nobody sees. */
  readonly ofSecret?: string
  /** The definition's own question is part of this list. */
  readonly isConfirmed?: boolean
  readonly children?: ReactNode
}

export function ChangedSetting(props: ChangedSettingProps): ReactNode {
  const { name, definition, from, to, ofSecret, isConfirmed = false, children } = props
  return (
    <div className="fm-change">
      <p dir="auto">{definition?.displayName ?? <code dir="ltr">{name}</code>}</p>
      {definition && <Diff definition={definition} from={from} to={to} ofSecret={ofSecret} />}
      {isConfirmed && definition?.confirm && (
        <p className="fm-warning is-warn" dir="auto">
          {definition.confirm}
        </p>
      )}
      {children}
    </div>
  )
}
