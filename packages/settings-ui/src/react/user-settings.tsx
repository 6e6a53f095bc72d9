/** The preferences of whoever looks at them. */
import type { ReactNode } from 'react'
import { SettingsPage } from './page/settings-page.tsx'
import { type SettingsProps, useSettingsPage } from './page/use-settings-page.ts'

/** Shows and changes the caller's own settings: `<UserSettings canUpdate />`. */
export function UserSettings(props: Omit<SettingsProps, 'isAdmin'>): ReactNode {
  const context = useSettingsPage(props, true)
  return <SettingsPage context={context} heading={context.messages.userHeading} />
}
