/** Settings within reach: each change is saved at once, and the page around them follows. */
import { router } from '@inertiajs/react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { callApi, wordsOf } from './api.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { useShared, useTexts } from './shared.ts'

const application = 1
const system = 0

export function QuickSettings(): ReactNode {
  const { app, user } = useShared()
  const texts = useTexts()
  const [problem, setProblem] = useState<string | null>(null)
  const [isAsking, setAsking] = useState(false)
  if (!app || !user) return null

  /** Without a scope: the preference of the caller. */
  function save(key: string, value: unknown, scope?: number): void {
    const path = scope === undefined ? '/api/settings/me' : '/api/settings'
    setProblem(null)
    callApi('PUT', path, { key, value, ...(scope !== undefined && { scope }) }).then(
      () => router.reload(),
      (failure: unknown) => setProblem(wordsOf(failure, texts)),
    )
  }

  const saveMaintenance = (value: boolean): void => save('system.maintenance_mode', value, system)

  return (
    <div className="card quick">
      <Choice
        label={texts.theme}
        value={app.theme}
        options={[
          ['light', texts.light],
          ['dark', texts.dark],
          ['system', texts.system],
        ]}
        onChange={(value) => save('app.theme', value)}
      />
      <Choice
        label={texts.density}
        value={app.density}
        options={[
          ['compact', texts.compact],
          ['comfortable', texts.comfortable],
          ['spacious', texts.spacious],
        ]}
        onChange={(value) => save('user.preferred_density', value)}
      />
      {user.canUpdateSettings ? (
        <Swatch
          key={app.primaryColor}
          label={texts.accent}
          value={app.primaryColor}
          onChange={(value) => save('app.primary_color', value, application)}
        />
      ) : null}
      {user.isAdmin ? (
        <>
          <Switch
            label={texts.signUps}
            value={app.isRegistrationOpen}
            onChange={(value) => save('system.registration_enabled', value, system)}
          />
          <Switch
            label={texts.maintenance}
            value={app.isInMaintenance}
            onChange={(value) => (value ? setAsking(true) : saveMaintenance(false))}
          />
        </>
      ) : null}
      {problem === null ? null : (
        <p className="alert" role="alert">
          {problem}
        </p>
      )}
      {isAsking ? (
        <ConfirmDialog
          question={texts.maintenanceQuestion}
          consequence={texts.maintenanceMore}
          no={texts.leaveOff}
          yes={texts.turnOn}
          onYes={() => saveMaintenance(true)}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </div>
  )
}

interface ControlProps<Value> {
  readonly label: string
  readonly value: Value
  readonly onChange: (value: Value) => void
}

interface ChoiceProps extends ControlProps<string> {
  readonly options: readonly (readonly [value: string, label: string])[]
}

/** A few short options side by side; a group of radio buttons, as arrow keys know it. */
function Choice({ label, value, options, onChange }: ChoiceProps): ReactNode {
  return (
    <div>
      <span aria-hidden="true">{label}</span>
      <span className="segments" role="radiogroup" aria-label={label}>
        {options.map(([option, text]) => (
          <label key={option}>
            <input type="radio" name={label} checked={option === value} onChange={() => onChange(option)} />
            {text}
          </label>
        ))}
      </span>
    </div>
  )
}

/** React's onChange follows each movement in the picker; the browser's own event waits for the choice. */
function Swatch({ label, value, onChange }: ControlProps<string>): ReactNode {
  const input = useRef<HTMLInputElement>(null)
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    const { current } = input
    const report = (): void => latest.current(current?.value ?? value)
    current?.addEventListener('change', report)
    return () => current?.removeEventListener('change', report)
  }, [value])
  return (
    <label>
      <span>{label}</span>
      <span className="swatch">
        <input ref={input} type="color" defaultValue={value} />
        <code>{value}</code>
      </span>
    </label>
  )
}

function Switch({ label, value, onChange }: ControlProps<boolean>): ReactNode {
  return (
    <label>
      <span>{label}</span>
      <input
        type="checkbox"
        role="switch"
        checked={value}
        onChange={(event) => onChange(event.target.checked)}
      />
    </label>
  )
}
