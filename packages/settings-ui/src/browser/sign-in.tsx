/** Where an ended session is renewed: in another tab, which closes itself. */
import type { ComponentChildren } from 'preact'

/** The gate leads from there to the login, and back. Beside this script: behind a proxy it knows the address better than the server does. */
const address = new URL('../signed-in', import.meta.url).href

/** The tab that it opens may close itself: it has an opener, of the same origin. */
export function SignInLink({ text }: { readonly text: string }): ComponentChildren {
  return (
    <a className="fm-button is-main" href={address} target="_blank" rel="opener">
      {text}
    </a>
  )
}
