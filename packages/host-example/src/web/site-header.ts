/** What surrounds pages that the server writes whole, as `pages/layout.tsx` surrounds the others. */
import type { SharedProps, User } from './shared-props.ts'
import { format, type Texts, textsOf } from '../texts/texts.ts'
import { icons, type IconName, logoOf, logoTile, type Stroke } from './drawings.ts'
import { type Html, html } from './html.ts'

/** The logo on its tile. */
export function logo(name: string): Html {
  return html`<svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
    <path class="tile" d="${logoTile}" />
    ${strokes(logoOf(name))}
  </svg>`
}

/** Paths with their looks as classes. */
export function strokes(list: readonly Stroke[]): Html[] {
  return list.map(([look, d]) => html`<path class="${look}" d="${d}" />`)
}

/** The letters that stand for a person. */
export function initials(name: string): string {
  return name.slice(0, 2).toUpperCase()
}

/** Skip link, brand, navigation and session; none of it needs a script. `path` is the page's own. */
export function siteHeader({ app, user }: Pick<SharedProps, 'app' | 'user'>, path: string): Html {
  const texts = textsOf(app.language)
  const links = navigation(texts, user).map(
    ([href, label]) => html`<a href="${href}" ${href === path && html` aria-current="page"`}>${label}</a> `,
  )
  const session =
    user === null
      ? html`<a class="button" href="/login">${texts.signIn}</a>`
      : html`<button class="me" type="button" popovertarget="me">
            <span class="face face-${user.id}" aria-hidden="true">${initials(user.name)}</span
            ><span class="unseen">${format(texts.account, { name: user.name })}</span>
          </button>
          <div class="menu" id="me" popover>
            <p>${user.name} · ${roleOf(texts, user)}</p>
            <div class="menu-nav">${links}</div>
            <a href="/inertia/preferences">${icon('sliders')}${texts.preferences}</a>
            <form method="post" action="/logout">
              <button type="submit">${icon('out')}${texts.signOut}</button>
            </form>
          </div>`
  return html`<a class="skip" href="#main">${texts.skip}</a>
    <header class="top">
      <a class="brand" href="/"
        >${logo(app.logo)}<span class="one-line" data-fm-preview="title">${app.title}</span></a
      >
      <nav aria-label="${texts.main}">${links}</nav>
      <div class="session"><span id="fm-preview"></span>${session}</div>
    </header>
    ${notices({ app, user })}`
}

/** What everybody is to know: that maintenance goes on, and the banner. */
export function notices({ app, user }: Pick<SharedProps, 'app' | 'user'>): Html {
  const texts = textsOf(app.language)
  return html`<aside aria-label="${texts.notices}">
    ${
      app.isInMaintenance &&
      html`<p class="banner is-warn">
        <strong>${texts.maintenanceIsOn}</strong> ${texts.onlyAdministrators}
        ${user?.isAdmin && html`<a href="${maintenanceSwitch}">${texts.turnItOff}</a>`}
      </p>`
    }
    <p class="banner" data-fm-preview="banner">${app.banner}</p>
  </aside>`
}

/** An icon beside text. */
function icon(name: IconName): Html {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${icons[name]}" /></svg>`
}

/** Where administrators end maintenance. */
export const maintenanceSwitch = '/inertia/settings#setting:system.maintenance_mode'

/** What an account is for, in words. */
export function roleOf(texts: Texts, user: User): string {
  return user.isAdmin ? texts.administrator : user.canUpdateSettings ? texts.editor : texts.member
}

/** The pages that this caller may use. */
export function navigation(
  texts: Texts,
  user: SharedProps['user'],
): readonly (readonly [href: string, label: string])[] {
  return [
    ['/notes', texts.notes],
    ...(user?.isAdmin
      ? [['/mails', texts.mail] as const, ['/dead-letters', texts.deadLetters] as const]
      : []),
    ...(user?.canUpdateSettings ? [['/inertia/settings', texts.settings] as const] : []),
    ['/api/docs', texts.api],
  ]
}
