/** Colours, web addresses and mail addresses (S 2.3, decision 8). */

const color = /^#[0-9a-fA-F]{6}$/
/** `new URL` would repair backslashes, missing slashes and surrounding spaces; a setting is used as it was written. */
const webAddress = /^https?:\/\/[^/?#]+/i
// oxlint-disable-next-line no-control-regex -- control characters are what this finds
const unsafeInUrl = /[\s\\\u0000-\u001f\u007f-\u009f]/
const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/** Whether the text is `#RRGGBB`. */
export function isColor(text: string): boolean {
  return color.test(text)
}

/** The problems of a Url: absolute, http or https, without credentials, which would be shown to every reader. */
export function checkUrl(text: string): string[] {
  const url = webAddress.test(text) && !unsafeInUrl.test(text) ? parseUrl(text) : null
  if (!url) return ['Enter an absolute http or https URL, like https://example.com.']
  const authority = text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0]
  if (authority?.includes('@')) return ['Enter the URL without a user name and password.']
  return []
}

/** Whether the text is one address `local@domain`: ASCII before the @, no quotes, no display name, at most 254 characters. */
export function isEmail(text: string): boolean {
  if (text.length > 254) return false
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  return (
    local.length <= 64 &&
    localPart.test(local) &&
    text
      .slice(at + 1)
      .split('.')
      .every(isLabel)
  )
}

function isLabel(label: string): boolean {
  return domainLabel.test(label)
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
