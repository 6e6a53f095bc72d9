/** The pages of the acceptance test, for the official client; vite puts version 2 in its place for half of the runs. */
import {
  createInertiaApp,
  Deferred,
  InfiniteScroll,
  router,
  useForm,
  usePage,
  WhenVisible,
} from '@inertiajs/react'
import type { ComponentType, ReactNode } from 'react'
import { createRoot } from 'react-dom/client'

const events: string[] = []
for (const name of ['success', 'error', 'flash', 'invalid', 'httpException', 'navigate'] as const)
  document.addEventListener(`inertia:${name}`, () => events.push(name))

/** What every page shows of itself: the page object as the client keeps it. */
function Probe({ children }: { readonly children?: ReactNode }) {
  const { component, props, url, flash } = usePage() as { flash?: object } & ReturnType<typeof usePage>
  return (
    <main>
      <h1>{component}</h1>
      <output id="page">{JSON.stringify({ props, url, flash })}</output>
      {children}
    </main>
  )
}

function Form({ bag, only }: { readonly bag?: string; readonly only?: string[] }) {
  const form = useForm({ title: '', body: '' })
  const options = {
    preserveScroll: true,
    ...(bag !== undefined && { errorBag: bag }),
    ...(only && { only }),
    onSuccess: () => void events.push('form succeeded'),
    onError: () => void events.push('form failed'),
  }
  return (
    <form
      id={bag ?? 'form'}
      onSubmit={(event) => {
        event.preventDefault()
        form.post('/notes', options)
      }}
    >
      <input
        name="title"
        value={form.data.title}
        onChange={(event) => form.setData('title', event.target.value)}
      />
      <input
        name="body"
        value={form.data.body}
        onChange={(event) => form.setData('body', event.target.value)}
      />
      <em>{form.errors.title}</em>
      <button>Save</button>
    </form>
  )
}

/** A form that asks what is wrong before it is sent. */
function Asking() {
  const form = useForm('post', '/notes', { title: '' })
  return (
    <form>
      <input
        name="title"
        value={form.data.title}
        onChange={(event) => form.setData('title', event.target.value)}
      />
      <em>{form.valid('title') ? 'right' : form.errors.title}</em>
      <button type="button" onClick={() => form.validate('title')}>
        Check
      </button>
    </form>
  )
}

const pages: Readonly<Record<string, (props: never) => ReactNode>> = {
  Probe: () => <Probe />,
  Notes: () => (
    <Probe>
      <Form />
    </Probe>
  ),
  Asking: () => (
    <Probe>
      <Asking />
    </Probe>
  ),
  Only: () => (
    <Probe>
      <Form only={['list']} />
    </Probe>
  ),
  Bags: () => (
    <Probe>
      <Form bag="one" />
      <Form bag="two" />
    </Probe>
  ),
  Deferred: () => (
    <Probe>
      <Deferred data="report" fallback={<p id="report">waiting</p>}>
        <p id="report">shown</p>
      </Deferred>
      <Deferred data="broken" fallback={<p id="broken">waiting</p>} rescue={<p id="broken">rescued</p>}>
        <p id="broken">shown</p>
      </Deferred>
    </Probe>
  ),
  Visible: () => (
    <Probe>
      <WhenVisible data="lazy" fallback={<p id="lazy">waiting</p>}>
        <p id="lazy">shown</p>
      </WhenVisible>
    </Probe>
  ),
  Scrolled: ({ list }: { list: { data: readonly { id: number }[] } }) => (
    <Probe>
      <InfiniteScroll data="list">
        {list.data.map(({ id }) => (
          <li key={id} style={{ height: '90vh' }}>
            {id}
          </li>
        ))}
      </InfiniteScroll>
    </Probe>
  ),
  Endless: ({ list }: { list: { data: readonly { id: number }[] } }) => (
    <Probe>
      <InfiniteScroll data="list" manual>
        {list.data.map(({ id }) => (
          <li key={id}>{id}</li>
        ))}
      </InfiniteScroll>
    </Probe>
  ),
}

interface Setup {
  readonly el: Element
  readonly App: ComponentType<Record<string, unknown>>
  readonly props: Record<string, unknown>
}

void createInertiaApp({
  resolve: (name: string) => pages[name] ?? pages['Probe'],
  setup: ({ el, App, props }: Setup) => createRoot(el).render(<App {...props} />),
  progress: false,
} as never)
Object.assign(window, { router, events })
