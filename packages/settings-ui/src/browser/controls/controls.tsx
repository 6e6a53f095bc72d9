/** The control of each type of setting (S 2.3), and what all of them share. */
import { SettingType } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import type { Definition } from '../model/setting.ts'
import { ChoiceControl, SwitchControl } from './choices.tsx'
import type { ControlProps } from './control-props.ts'
import { CodeControl, LongTextControl } from './long-text.tsx'
import {
  ColorControl,
  DateTimeControl,
  EmailControl,
  NumberControl,
  TextControl,
  UrlControl,
} from './one-line.tsx'
import { SecretControl } from './secret.tsx'

type ControlComponent = (props: ControlProps) => ComponentChildren

const controls: Readonly<Record<number, ControlComponent>> = {
  [SettingType.Text]: TextControl,
  [SettingType.Number]: NumberControl,
  [SettingType.Bool]: SwitchControl,
  [SettingType.Json]: CodeControl,
  [SettingType.Select]: ChoiceControl,
  [SettingType.Color]: ColorControl,
  [SettingType.Url]: UrlControl,
  [SettingType.Email]: EmailControl,
  [SettingType.Password]: SecretControl,
  [SettingType.MultilineText]: LongTextControl,
  [SettingType.DateTime]: DateTimeControl,
}

export function controlOf({ type, sensitive }: Definition): ControlComponent {
  // A type of a newer server is text: the API checks it.
  if (!sensitive) return controls[type] ?? TextControl
  if (isWide(type)) return LongTextControl
  return type === SettingType.Bool || type === SettingType.Select ? ChoiceControl : SecretControl
}

/** Whether a row gives its control the whole width (S 2.3: Json and MultilineText). */
export function isWide(type: number): boolean {
  return type === SettingType.Json || type === SettingType.MultilineText
}

const widths: Readonly<Record<number, string>> = {
  [SettingType.Number]: 'is-short',
  [SettingType.Color]: 'is-short',
  [SettingType.Bool]: 'is-auto',
  [SettingType.Select]: 'is-auto',
}

/** The class that gives a control the width of its type. */
export function widthOf({ type }: Definition): string {
  return `fm-control fm-line ${widths[type] ?? ''}`
}
