/** Props that every page has: what the application shares, and `errors`. */
import type { FastifyRequest } from 'fastify'
import { always, evaluate, type Props } from './props.ts'

/** Props for every page, or a function of the request that gives them: `(request) => ({ user: request.caller?.name })`. */
export type SharedProps = Props | ((request: FastifyRequest) => Props | Promise<Props>)

/** The page's own props over the shared ones. `errors` is always present: the client reads it on every page. */
export async function withSharedProps(
  request: FastifyRequest,
  shared: SharedProps | undefined,
  own: Props,
): Promise<Props> {
  const base = typeof shared === 'function' ? await shared(request) : shared
  const props: Props = { ...base, ...own }
  return { ...props, errors: always(async () => inErrorBag(request, (await evaluate(props.errors)) ?? {})) }
}

/** Two forms on one page keep their errors apart by the name that the client gives. */
function inErrorBag(request: FastifyRequest, errors: object): object {
  const bag = request.headers['x-inertia-error-bag']
  return typeof bag !== 'string' || Object.keys(errors).length === 0 ? errors : { [bag]: errors }
}
