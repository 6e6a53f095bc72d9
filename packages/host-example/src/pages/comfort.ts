/** Comfort for the sign-in page, which the server writes whole: a password can be shown. */

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-reveal]')) {
  const input = document.querySelector<HTMLInputElement>(`#${button.dataset['reveal']}`)
  button.hidden = false
  button.addEventListener('click', () => {
    const isShown = input?.type === 'password'
    if (input) input.type = isShown ? 'text' : 'password'
    button.setAttribute('aria-pressed', String(isShown))
  })
}
