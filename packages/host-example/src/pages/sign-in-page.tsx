/** Signing in: forms that the browser submits, so that they need no script, and a document follows. */
import { usePage } from '@inertiajs/react'
import type { ReactNode } from 'react'
import { format } from '../texts/texts.ts'
import type { SignInForm } from '../sign-in.ts'
import type { User } from '../web/shared-props.ts'
import { Face, Logo } from './drawings.tsx'
import { Layout, roleOf } from './layout.tsx'
import { useLook, useTexts } from './shared.ts'

interface SignInProps {
  readonly form: SignInForm
  readonly demoAccounts: readonly User[]
  readonly [prop: string]: unknown
}

export function SignInPage(): ReactNode {
  const { form, demoAccounts } = usePage<SignInProps>().props
  const { returnTo, user, isRefused } = form
  const app = useLook()
  const texts = useTexts()
  const invalid = isRefused ? { 'aria-invalid': true, 'aria-describedby': 'login-error' } : {}
  return (
    <Layout title={texts.signIn}>
      <main className="login" id="main" tabIndex={-1}>
        <div className="login-brand">
          <Logo name={app?.logo ?? 'note'} />
          <h1>{format(texts.signInTo, { title: app?.title ?? '' })}</h1>
          <p className="small">{texts.pitch}</p>
        </div>
        <form className="card login-form" method="post" action={signInPath(returnTo)}>
          {isRefused ? (
            <p className="alert" id="login-error" role="alert">
              {texts.signInRefused}
            </p>
          ) : null}
          <div>
            <label htmlFor="user">{texts.userName}</label>
            <input
              className="field"
              id="user"
              name="user"
              defaultValue={user}
              required
              maxLength={100}
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              autoFocus={!isRefused}
              {...invalid}
            />
          </div>
          <div>
            <label htmlFor="password">{texts.password}</label>
            <input
              className="field"
              id="password"
              name="password"
              type="password"
              required
              maxLength={200}
              autoComplete="current-password"
              autoFocus={isRefused}
              {...invalid}
            />
          </div>
          <button className="button primary" type="submit">
            {texts.signIn}
          </button>
        </form>
        {demoAccounts.length === 0 ? null : <DemoAccounts accounts={demoAccounts} returnTo={returnTo} />}
      </main>
    </Layout>
  )
}

/** One button for each account. */
function DemoAccounts({ accounts, returnTo }: { accounts: readonly User[]; returnTo: string }): ReactNode {
  const texts = useTexts()
  return (
    <section className="demo" aria-label={texts.demoAccounts}>
      <p className="small">{texts.demoLead}</p>
      <div>
        {accounts.map((account) => (
          <SignInAs key={account.id} id={account.id} returnTo={returnTo}>
            <button className="button account">
              <Face id={account.id} name={account.name} />
              <span>
                <b>{account.name}</b>
                <span className="small">{roleOf(texts, account)}</span>
              </span>
            </button>
          </SignInAs>
        ))}
      </div>
    </section>
  )
}

interface SignInAsProps {
  readonly id: string
  readonly returnTo: string
  /** Follows the address to return to: browsers keep it, and send it to nobody. */
  readonly fragment?: string
  /** A button. */
  readonly children: ReactNode
}

/** A form that signs in with an account of the demonstration. */
export function SignInAs({ id, returnTo, fragment = '', children }: SignInAsProps): ReactNode {
  return (
    <form method="post" action={signInPath(returnTo) + fragment}>
      <input type="hidden" name="user" value={id} />
      <input type="hidden" name="password" value={`demo-${id}`} />
      {children}
    </form>
  )
}

const signInPath = (returnTo: string): string => `/login?returnTo=${encodeURIComponent(returnTo)}`
