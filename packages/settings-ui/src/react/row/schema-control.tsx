/** The control of a Json setting with a schema, which most pages do not need: it comes with a file of its own. */
import type { ReactNode } from 'react'
import type { ControlProps } from '../controls/control-props.ts'
import { CodeControl } from '../controls/long-text.tsx'
import { useMore } from '../use-more.ts'

/** JSON where the file cannot be loaded. */
export function SchemaControl(props: ControlProps): ReactNode {
  const more = useMore()
  if (more === undefined) return <div className="fm-form" id={props.field.id} aria-busy />
  return more ? <more.JsonControl {...props} /> : <CodeControl {...props} />
}
