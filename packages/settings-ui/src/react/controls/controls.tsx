/** The controls by type (S 2.3). */
import type { ReactNode } from 'react'
import { SettingType } from '@fastify-modular/settings/client'
import type { Definition } from '../model/setting.ts'
import { usePage } from '../shared/page-context.ts'
import { ColorControl } from './color-control.tsx'
import type { ControlProps } from './control-props.ts'
import { LongTextControl } from './long-text-control.tsx'
import { SecretControl } from './secret-control.tsx'
import { SelectControl } from './select-control.tsx'
import { SwitchControl } from './switch-control.tsx'
import { TextControl } from './text-control.tsx'

type ControlComponent = (props: ControlProps) => ReactNode

const controls: Readonly<Record<number, ControlComponent>> = {
  [SettingType.Text]: TextControl,
  [SettingType.Number]: TextControl,
  [SettingType.Bool]: SwitchControl,
  [SettingType.Json]: LongTextControl,
  [SettingType.Select]: SelectControl,
  [SettingType.Color]: ColorControl,
  [SettingType.Url]: TextControl,
  [SettingType.Email]: TextControl,
  [SettingType.Password]: SecretControl,
  [SettingType.MultilineText]: LongTextControl,
  [SettingType.DateTime]: TextControl,
}

export function controlOf({ type, sensitive }: Definition): ControlComponent {
  if (!sensitive) return controls[type] ?? Unsupported
  if (isWide(type)) return LongTextControl
  return type === SettingType.Bool || type === SettingType.Select ? SelectControl : SecretControl
}

/** Whether a row gives its control the whole width (S 2.3: Json and MultilineText). */
export function isWide(type: number): boolean {
  return type === SettingType.Json || type === SettingType.MultilineText
}

/** A type of a newer server: its value is shown and left alone. */
function Unsupported({ field }: ControlProps): ReactNode {
  const { messages } = usePage()
  return (
    <>
      <input {...field} readOnly />
      <p className="fm-hint">{messages.unsupported}</p>
    </>
  )
}
