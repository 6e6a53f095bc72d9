/** What every string must satisfy, whatever its type: both databases store it and give the same text back. */

/** Lone surrogates only: with the flag u a pair is one character. */
const unpairedSurrogate = /\p{Surrogate}/u

/** Whether the text can be stored: no NUL (PostgreSQL refuses it), no unpaired surrogate (no UTF-8 form). */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && !unpairedSurrogate.test(text)
}

/** Whether the text takes at most so many bytes in UTF-8. */
function fits(text: string, maxBytes: number): boolean {
  return text.length <= maxBytes && (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes)
}

/** The problems of any string value (decision 11). */
export function checkText(text: string, maxBytes: number): string[] {
  if (!fits(text, maxBytes)) return [`Enter at most ${maxBytes} bytes of text.`]
  return isStorable(text) ? [] : ['Enter text without NUL characters and unpaired surrogates.']
}
