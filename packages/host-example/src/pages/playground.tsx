/** Settings to try without an account, on the very page: nobody else sees it, and nothing is saved from here. */
import { createStage, type Stage } from '@fastify-modular/settings-ui/stage'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { type Draft, draftFragment, tried } from './draft.ts'
import { Icon } from './drawings.tsx'
import { useLook, useReady, useTexts } from './shared.ts'
import { SignInAs } from './sign-in-page.tsx'

const preview = { [tried.title]: 'title', [tried.color]: 'accent', [tried.banner]: 'banner' } as const

export function Playground(): ReactNode {
  const texts = useTexts()
  const { title = '', accent = '', banner } = useLook() ?? {}
  const saved: Draft = { [tried.title]: title, [tried.color]: accent, [tried.banner]: banner ?? '' }
  /** What the fields hold, as far as somebody has touched them. */
  const [typed, setTyped] = useState<Draft>({})
  const [isShown, setShown] = useState(true)
  const stage = useRef<Stage>(null)
  const draft = draftOf(typed)
  const isTouched = Object.keys(draft).length > 0

  /** The title is required: without one, the saved one stays. */
  function draftOf(values: Draft): Draft {
    const changed = Object.entries(values).filter(([key, value]) => value !== saved[key])
    return Object.fromEntries(changed.filter(([key, value]) => key !== tried.title || value.trim() !== ''))
  }

  function show(values: Draft): void {
    stage.current ??= createStage(preview)
    for (const key of Object.keys(preview)) stage.current.show(key, values[key])
  }

  function change(values: Draft, isPreview = true): void {
    setTyped(values)
    setShown(isPreview)
    show(isPreview ? draftOf(values) : {})
  }

  useEffect(() => stage.current?.showAgain(), [title, accent, banner]) // somebody has saved something meanwhile
  useEffect(() => () => void (stage.current && show({})), [])

  const fieldOf = (key: string) => ({
    value: typed[key] ?? saved[key],
    onChange: (value: string) => change({ ...typed, [key]: value }),
  })
  return (
    <section className="card rows" aria-labelledby="try">
      <div className="row">
        <div>
          <h2 id="try">{texts.tryIt}</h2>
          <p className="small">{texts.tryItMore}</p>
        </div>
      </div>
      <TextField label={texts.title} maxLength={60} {...fieldOf(tried.title)} />
      <Swatches {...fieldOf(tried.color)} />
      <TextField label={texts.banner} maxLength={140} {...fieldOf(tried.banner)} />
      <div className="row small">
        {isTouched ? (
          <>
            <button
              className="button try"
              type="button"
              aria-pressed={isShown}
              onClick={() => change(typed, !isShown)}
            >
              <Icon name="eye" />
              {isShown ? texts.preview : texts.showingSaved}
            </button>
            <button className="button quiet" type="button" onClick={() => change({})}>
              {texts.startAgain}
            </button>
            <SignInAs id="admin" returnTo="/settings/manage" fragment={draftFragment(draft)}>
              <button className="button primary">{texts.saveForEverybody}</button>
            </SignInAs>
            <p>{texts.saveMore}</p>
          </>
        ) : (
          <p>{texts.tryHint}</p>
        )}
      </div>
      <p className="unseen" role="status">
        {isTouched && isShown ? texts.preview : ''}
      </p>
    </section>
  )
}

interface FieldProps {
  readonly value: string | undefined
  readonly onChange: (value: string) => void
}

interface TextFieldProps extends FieldProps {
  readonly label: string
  readonly maxLength: number
}

function TextField({ label, maxLength, value, onChange }: TextFieldProps): ReactNode {
  const id = useId()
  const { writeSomething } = useTexts()
  const isReady = useReady()
  return (
    <div className="row">
      <label htmlFor={id}>{label}</label>
      <input
        className="field"
        id={id}
        value={value}
        maxLength={maxLength}
        placeholder={writeSomething}
        disabled={!isReady}
        autoComplete="off"
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  )
}

/** Colours to choose from, in the order of their names. */
const colors = ['#2f57dd', '#0f766e', '#a34a1b', '#8a3d9c', '#3d4250']

function Swatches({ value, onChange }: FieldProps): ReactNode {
  const texts = useTexts()
  const isReady = useReady()
  return (
    <div className="row">
      <span aria-hidden="true">{texts.color}</span>
      <span className="swatches" role="radiogroup" aria-label={texts.color}>
        {colors.map((color, index) => (
          <label key={color} title={texts.colors[index]}>
            <input
              type="radio"
              name="color"
              checked={color === value}
              disabled={!isReady}
              onChange={() => onChange(color)}
            />
            <svg viewBox="0 0 20 20" aria-hidden="true">
              <circle cx="10" cy="10" r="9" fill={color} />
            </svg>
            <span className="unseen">{texts.colors[index]}</span>
          </label>
        ))}
      </span>
    </div>
  )
}
