/** The header of the prebuilt pages: where this is, who looks at it, and how it looks. */
import { type ReactNode, useState } from 'react'
import type { PageConfig } from '../page-config.ts'
import { defaultMessages } from '../react/messages/messages.ts'
import { chooseScheme, chosenScheme } from './color-scheme.ts'

const schemes = ['auto', 'light', 'dark'] as const

export function TopBar({ config }: { readonly config: PageConfig }): ReactNode {
  const messages = { ...defaultMessages, ...config.messages }
  const [scheme, setScheme] = useState(() => chosenScheme(config.scheme))
  return (
    <>
      <a className="fm-skip" href="#fm-settings">
        {messages.skip}
      </a>
      <header className="fm-top">
        <a className="fm-brand" href={config.home}>
          {config.logo && <img src={config.logo} alt="" height="24" />}
          {config.title}
        </a>
        {config.other && (
          <a href={config.other}>{config.page === 'manage' ? messages.toUserPage : messages.toAdminPage}</a>
        )}
        <span className="fm-space" />
        <select
          aria-label={messages.theme}
          value={scheme}
          onChange={(event) => {
            const chosen = schemes.find((each) => each === event.currentTarget.value) ?? 'auto'
            setScheme(chosen)
            chooseScheme(chosen)
          }}
        >
          {schemes.map((each) => (
            <option key={each} value={each}>
              {messages[each]}
            </option>
          ))}
        </select>
        {config.userName && <span className="fm-user">{config.userName}</span>}
        {config.logout && (
          <form method="post" action={config.logout}>
            <button type="submit" className="fm-quiet">
              {messages.signOut}
            </button>
          </form>
        )}
      </header>
    </>
  )
}
