/** Preferences within reach: each change is saved at once, and the page around them follows. */
import { router } from '@inertiajs/react'
import { type ReactNode, useState } from 'react'
import { callApi } from './api.ts'
import { useShared, useTexts } from './shared.ts'

export function QuickSettings(): ReactNode {
  const { app } = useShared()
  const texts = useTexts()
  const [problem, setProblem] = useState<string | null>(null)

  async function save(key: string, value: string): Promise<void> {
    const problem = await callApi(texts, 'PUT', '/api/settings/me', { key, value })
    setProblem(problem)
    if (problem === null) router.reload()
  }

  return (
    <div className="card quick">
      <Choice
        label={texts.theme}
        value={app?.theme}
        options={{ light: texts.light, dark: texts.dark, system: texts.system }}
        onChange={(value) => void save('app.theme', value)}
      />
      <Choice
        label={texts.density}
        value={app?.density}
        options={{ compact: texts.compact, comfortable: texts.comfortable, spacious: texts.spacious }}
        onChange={(value) => void save('user.preferred_density', value)}
      />
      {problem === null ? null : (
        <p className="alert" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string | undefined
  /** Labels by value. */
  readonly options: Readonly<Record<string, string>>
  readonly onChange: (value: string) => void
}

/** A few short options side by side; a group of radio buttons, as arrow keys know it. */
function Choice({ label, value, options, onChange }: ChoiceProps): ReactNode {
  return (
    <div>
      <span aria-hidden="true">{label}</span>
      <span className="segments" role="radiogroup" aria-label={label}>
        {Object.entries(options).map(([option, text]) => (
          <label key={option}>
            <input type="radio" name={label} checked={option === value} onChange={() => onChange(option)} />
            {text}
          </label>
        ))}
      </span>
    </div>
  )
}
