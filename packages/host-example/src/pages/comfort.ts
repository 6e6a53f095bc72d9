/** Comfort for pages that the server writes whole (sign-in, API): a password can be shown, operations found and tried. */

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-reveal]')) {
  const input = document.querySelector<HTMLInputElement>(`#${button.dataset['reveal']}`)
  button.hidden = false
  button.addEventListener('click', () => {
    const isShown = input?.type === 'password'
    if (input) input.type = isShown ? 'text' : 'password'
    button.setAttribute('aria-pressed', String(isShown))
  })
}

for (const input of document.querySelectorAll<HTMLInputElement>('input[data-filter]')) {
  const search = input.closest<HTMLElement>('[role=search]')
  const operations = [...document.querySelectorAll<HTMLElement>(input.dataset['filter'] ?? '')]
  const status = search?.querySelector('[role=status]')
  if (search) search.hidden = false
  const texts = operations.map(
    (operation) => operation.querySelector('summary')?.textContent?.toLowerCase() ?? '',
  )
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/)
    const isFound = (text: string): boolean => words.every((word) => text.includes(word))
    operations.forEach((operation, index) => (operation.hidden = !isFound(texts[index] ?? '')))
    for (const group of document.querySelectorAll<HTMLElement>('.docs-group')) {
      group.hidden = group.querySelector('.operation:not([hidden])') === null
    }
    const found = texts.filter(isFound).length
    if (status) status.textContent = input.value === '' ? '' : `${found} of ${texts.length} operations`
  })
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-request]')) {
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send(form)
  })
}

/** Sends what the form describes and shows the answer; the browser adds the session. */
async function send(form: HTMLFormElement): Promise<void> {
  const status = form.querySelector('[role=status]')
  const output = form.querySelector<HTMLElement>('.answer')
  if (!status || !output) return
  const method = (form.dataset['request'] ?? 'get').toUpperCase()
  const body = form.querySelector<HTMLTextAreaElement>('textarea')?.value
  status.textContent = 'Sending…'
  try {
    const response = await fetch(addressOf(form), {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
    })
    status.textContent = `${response.status} ${response.statusText}`
    output.textContent = pretty(await response.text())
  } catch {
    status.textContent = 'The server cannot be reached.'
    output.textContent = ''
  }
  output.hidden = output.textContent === ''
}

function addressOf(form: HTMLFormElement): string {
  const query = new URLSearchParams()
  let path = form.dataset['path'] ?? '/'
  for (const { name, value, dataset } of form.querySelectorAll('input')) {
    if (dataset['place'] === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (value !== '') query.set(name, value)
  }
  return query.size > 0 ? `${path}?${query}` : path
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** A link to an operation opens it; a search does not hide it any longer. */
function openTarget(): void {
  const target = document.getElementById(window.location.hash.slice(1))
  if (!(target instanceof HTMLDetailsElement)) return
  target.open = true
  const search = document.querySelector<HTMLInputElement>('input[data-filter]')
  if (!target.hidden || !search) return
  search.value = ''
  search.dispatchEvent(new Event('input'))
  target.scrollIntoView()
}
window.addEventListener('hashchange', openTarget)
openTarget()
