/** What a developer sees before any setting is defined. */
import type { ComponentChildren } from 'preact'
import { Button } from './button.tsx'
import { usePage } from './page-context.ts'

const code = `import { settings, setting, SettingScope } from '@fastify-modular/settings'

const title = setting.text('app.title', { displayName: 'Title', scope: SettingScope.Application, default: 'Notes' })
app.register(settings, { definitions: [{ title }] })`

const guide = 'https://github.com/fastify-modular/fastify-modular/blob/main/docs/guides/settings.md'

export function FirstSteps(): ComponentChildren {
  const { editor, messages } = usePage()
  return (
    <section className="fm-first" aria-label={messages.empty}>
      <h2>{messages.empty}</h2>
      <p>{messages.emptyHint}</p>
      <pre className="fm-lines" dir="ltr" tabIndex={0}>
        {code}
      </pre>
      <Button icon="copy" onClick={() => void editor.copy(code)} text={messages.copy} />{' '}
      <a href={guide} target="_blank" rel="noreferrer">
        {messages.documentation}
      </a>
    </section>
  )
}
