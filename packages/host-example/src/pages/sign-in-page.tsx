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
  const action = `/login?returnTo=${encodeURIComponent(returnTo)}`
  const invalid = isRefused ? { 'aria-invalid': true, 'aria-describedby': 'login-error' } : {}
  return (
    <Layout title={texts.signIn}>
      <main className="login" id="main" tabIndex={-1}>
        <div className="login-brand">
          <Logo name={app?.logo ?? 'note'} />
          <h1>{format(texts.signInTo, { title: app?.title ?? '' })}</h1>
          <p className="small">{texts.pitch}</p>
        </div>
        <form className="card login-form" method="post" action={action}>
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
        {demoAccounts.length === 0 ? null : <DemoAccounts accounts={demoAccounts} action={action} />}
      </main>
    </Layout>
  )
}

/** One button for each account. */
function DemoAccounts({ accounts, action }: { accounts: readonly User[]; action: string }): ReactNode {
  const texts = useTexts()
  return (
    <section className="demo" aria-label={texts.demoAccounts}>
      <p className="small">{texts.demoLead}</p>
      <div>
        {accounts.map((account) => (
          <form key={account.id} method="post" action={action}>
            <input type="hidden" name="user" value={account.id} />
            <input type="hidden" name="password" value={`demo-${account.id}`} />
            <button className="button account" type="submit">
              <Face id={account.id} name={account.name} />
              <span>
                <b>{account.name}</b>
                <span className="small">{roleOf(texts, account)}</span>
              </span>
            </button>
          </form>
        ))}
      </div>
    </section>
  )
}
