// Inertia without a build: the first visit is a document with the page as data, the next ones are that data alone.
// An application uses @inertiajs/react or another client; these twenty lines stand in for it. Open http://localhost:3000/
//
//   node examples/inertia.mjs
//   curl -i localhost:3000/                                                            # 200 <div id="app">
//   curl -i localhost:3000/notes/1 -H 'x-inertia: true' -H 'x-inertia-version: 1'      # 200 "component":"Note"
//   curl -i localhost:3000/notes/1 -H 'x-inertia: true' -H 'x-inertia-version: older'  # 409
import Fastify from 'fastify'
import { inertia, prop } from '@fastify-modular/inertia'

const notes = [
  { id: 1, title: 'Shopping', text: 'Oat milk' },
  { id: 2, title: 'Plants', text: 'Water them on Friday' },
]

const client = `
const show = ({ component, props, url }) => {
  const element = (name, fields) => Object.assign(document.createElement(name), fields)
  const link = ({ id, title }) => element('a', { href: '/notes/' + id, textContent: title })
  const back = element('a', { href: '/', textContent: 'All ' + props.count + ' notes' })
  const shown = component === 'Note' ? [element('h1', { textContent: props.note.title }), props.note.text, back] : props.notes.map(link)
  document.querySelector('#app').replaceChildren(...shown.flatMap((each) => [each, element('br')]))
  history.replaceState(null, '', url)
}
const visit = async (url) => {
  const headers = { 'X-Inertia': 'true', 'X-Inertia-Version': '1', Accept: 'text/html, application/xhtml+xml' }
  const answer = await fetch(url, { headers })
  if (answer.status === 409) location.href = answer.headers.get('X-Inertia-Location') // the client is outdated
  else show(await answer.json())
}
document.addEventListener('click', (event) => {
  if (event.target.tagName !== 'A') return
  event.preventDefault()
  history.pushState(null, '', event.target.href)
  void visit(event.target.href)
})
addEventListener('popstate', () => visit(location.href))
show(JSON.parse(document.querySelector('script[data-page]').textContent))
`

const app = Fastify({ logger: true })
await app.register(inertia, {
  version: '1', // changes with the client
  share: () => ({ count: prop.always(() => notes.length) }),
  rootTemplate:
    '<!doctype html><title>Notes</title><!--inertia--><script type="module" src="/client.js"></script>',
})
app.get('/client.js', async (_request, reply) => reply.type('text/javascript').send(client))
app.get('/', (_request, reply) => reply.inertia('Notes', { notes }))
app.get('/notes/:id', ({ params }, reply) =>
  reply.inertia('Note', { note: notes.find(({ id }) => String(id) === params.id) }),
)

await app.listen({ port: Number(process.env.PORT ?? 3000) })
