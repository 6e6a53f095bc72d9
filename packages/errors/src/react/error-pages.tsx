/** One page for each status that the specification names (S 7.2.5), and one for all others. */
import type { ReactNode } from 'react'
import type { ErrorPageProps } from '../error-page.ts'
import { ErrorPage } from './error-page.tsx'

/** `Error/403`: signed in, but not allowed. */
export const Error403 = ErrorPage

/** `Error/404`: nothing here. */
export const Error404 = ErrorPage

/** `Error/500`: the server failed, and trying again may help. */
export function Error500(props: ErrorPageProps): ReactNode {
  return (
    <ErrorPage {...props}>
      <a href="">Try again</a>
      <a href="/">Go to the home page</a>
    </ErrorPage>
  )
}
