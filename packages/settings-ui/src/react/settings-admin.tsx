/** The administration: System and Application settings, and the defaults of User settings. */
import type { ReactNode } from 'react'
import { SettingsPage } from './page/settings-page.tsx'
import { type SettingsProps, useSettingsPage } from './page/use-settings-page.ts'

/** Shows and changes all settings that the caller may see: `<SettingsAdmin canUpdate isAdmin />`. */
export function SettingsAdmin(props: SettingsProps): ReactNode {
  const context = useSettingsPage(props, false)
  return <SettingsPage context={context} heading={context.messages.adminHeading} />
}

/** The settings of one group, to stand on a page of the host: `<SettingsGroup group="Mail" canUpdate />`. */
export function SettingsGroup({ group, ...props }: SettingsProps & { readonly group: string }): ReactNode {
  const context = useSettingsPage(props, false)
  return <SettingsPage context={context} heading={group} group={group} />
}
