/** What every string must satisfy, whatever its type: both databases store it and give the same text back. */
import { isStorable } from '../setting-definition.ts'

/** Whether the text takes at most so many bytes in UTF-8. */
function fits(text: string, maxBytes: number): boolean {
  return text.length <= maxBytes && (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes)
}

/** The problems of any string value (decision 11). */
export function checkText(text: string, maxBytes: number): string[] {
  if (!fits(text, maxBytes)) return [`Enter at most ${maxBytes} bytes of text.`]
  return isStorable(text) ? [] : ['Enter text without NUL characters and unpaired surrogates.']
}
