/** The texts of a language. */
import { de } from './de.ts'
import { en, type Texts } from './en.ts'

export type { Texts } from './en.ts'

const languages: Readonly<Record<string, Texts>> = { en, de }

/** Returns the texts of a value of the setting `app.language`. */
export function textsOf(language: string): Texts {
  return languages[language] ?? en
}

/** The heading and the explanation of an error page; a status without words of its own has those of its problem. */
export function errorTexts(
  { errors, forbidden, forbiddenToStrangers }: Texts,
  {
    status,
    title,
    message,
    userName,
  }: { status: number; title: string; message: string; userName: string | null },
): { readonly heading: string; readonly text: string } {
  const own: Readonly<Record<number, readonly string[]>> = errors
  const [heading = title, text = message] = own[status] ?? []
  if (status !== 403) return { heading, text }
  return { heading, text: userName === null ? forbiddenToStrangers : forbidden(userName) }
}
