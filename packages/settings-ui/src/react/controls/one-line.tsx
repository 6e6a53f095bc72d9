/** Controls of one line: text, numbers, addresses, colours, dates with a time. */
import { SettingType } from '@fastify-modular/settings/client'
import type { HTMLAttributes, KeyboardEvent, ReactNode } from 'react'
import { Icon, type IconName } from '../icons.tsx'
import { format } from '../../texts/messages.ts'
import { isWebUrl, spokenTime, stepNumber } from '../model/input.ts'
import { usePage } from '../page-context.ts'
import type { ControlProps } from './control-props.ts'

interface Kind {
  readonly type?: 'email'
  readonly dir?: 'ltr' | 'auto'
  readonly inputMode?: HTMLAttributes<HTMLInputElement>['inputMode']
  readonly spellCheck?: boolean
}

const kinds: Readonly<Record<number, Kind>> = {
  [SettingType.Text]: { spellCheck: true, dir: 'auto' },
  [SettingType.Email]: { type: 'email', dir: 'ltr' },
}

interface FrameProps {
  readonly isLocked: boolean
  readonly icon?: IconName
  readonly className?: string
  readonly children: ReactNode
}

/** What looks like the field; the input inside is bare. */
export function Frame({ isLocked, icon, className = 'fm-field', children }: FrameProps): ReactNode {
  const shown = isLocked ? 'lock' : icon
  return (
    <span className={className}>
      {shown && <Icon name={shown} />}
      {children}
    </span>
  )
}

/** Text and Email. */
export function TextControl({ definition, field, isLocked }: ControlProps): ReactNode {
  return (
    <Frame isLocked={isLocked}>
      <input className="fm-bare" {...field} {...kinds[definition.type]} />
    </Frame>
  )
}

/** Not `type="number"`: the wheel changes it, and its value is empty for a text that is not a number. */
export function NumberControl({ definition, field, isLocked, onInput }: ControlProps): ReactNode {
  const { unit, min, max } = definition
  const range = min !== null && max !== null ? `${min}–${max}` : undefined
  const hint = unit ?? range

  function step(event: KeyboardEvent): void {
    const size = event.shiftKey ? 10 : 1
    const next = { ArrowUp: size, ArrowDown: -size }[event.key]
    if (next === undefined || field.readOnly || event.altKey) return
    event.preventDefault()
    const text = stepNumber(definition, field.value, next)
    if (text !== undefined) onInput(text)
  }

  return (
    <Frame isLocked={isLocked}>
      <input className="fm-bare" {...field} inputMode="decimal" dir="ltr" onKeyDown={step} />
      {hint && (
        <span className="fm-small fm-unit" id={`${field.id}-u`} dir="auto">
          {hint}
        </span>
      )}
    </Frame>
  )
}

export function UrlControl({ definition, field, isLocked }: ControlProps): ReactNode {
  const { messages } = usePage()
  return (
    <Frame isLocked={isLocked}>
      <input className="fm-bare" {...field} type="url" dir="ltr" />
      {isWebUrl(field.value) && (
        <a
          className="fm-button is-quiet is-icon"
          href={field.value}
          target="_blank"
          rel="noopener noreferrer"
          aria-label={`${messages.open} ${definition.displayName}`}
        >
          <Icon name="open" />
        </a>
      )}
    </Frame>
  )
}

/** A picker, and the text that it stands for. */
export function ColorControl({ definition, field, isLocked }: ControlProps): ReactNode {
  const { messages } = usePage()
  const { value, readOnly, onInput, onBlur } = field
  return (
    <Frame isLocked={isLocked}>
      <input
        type="color"
        className="fm-swatch"
        aria-label={format(messages.picker, { name: definition.displayName })}
        value={/^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : '#000000'}
        disabled={readOnly}
        tabIndex={-1}
        onInput={onInput}
        onBlur={onBlur}
      />
      <input
        className="fm-bare"
        {...field}
        dir="ltr"
        placeholder={field.placeholder ?? '#RRGGBB'}
        maxLength={7}
      />
    </Frame>
  )
}

/** At rest it reads as people say it; with the focus it is the browser's own field. */
export function DateTimeControl({ field, isLocked }: ControlProps): ReactNode {
  const { locale } = usePage()
  const spoken = spokenTime(field.value, locale)
  return (
    <Frame isLocked={isLocked} className={spoken ? 'fm-field fm-when' : 'fm-field'}>
      <input className="fm-bare" {...field} type="datetime-local" step={1} />
      {spoken && <span aria-hidden="true">{spoken}</span>}
      <Icon name="calendar" />
    </Frame>
  )
}
