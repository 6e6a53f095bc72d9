/** Makes a text that a regular expression of a route parameter accepts, so that a path of the route can be tried. */

/** What stands in for characters, the most usual first. */
const characters = Array.from(
  'a0A-_.~bcdefghijklmnopqrstuvwxyz123456789BCDEFGHIJKLMNOPQRSTUVWXYZ!$&\'()*+,;=:@ "<>[]^`{|}\\/?#%',
)

/** Up to eight texts that the expression accepts and that are not empty; none where none was found. */
export function sampleTexts(expression: string): readonly string[] {
  const accepted = toRegExp(expression)
  if (accepted === null) return []
  const texts = [0, 1, 2, 3].flatMap((branch) =>
    [1, 0].map((optional) => new Sampler(expression, { branch, optional }).alternatives()),
  )
  return [...new Set(texts.flatMap((text) => (text && accepted.test(text) ? [text] : [])))]
}

/** Null for the syntax of another engine. */
function toRegExp(expression: string): RegExp | null {
  try {
    return new RegExp(expression)
  } catch {
    return null
  }
}

/** Walks along an expression and chooses. Look-around chooses nothing: the caller tests the result. */
class Sampler {
  readonly #source: string
  /** Which alternative is taken. */
  readonly #branch: number
  /** How often a part is taken that may be left out. */
  readonly #optional: number
  #at = 0

  constructor(source: string, { branch, optional }: { readonly branch: number; readonly optional: number }) {
    this.#source = source
    this.#branch = branch
    this.#optional = optional
  }

  /** One of the alternatives up to the end of the group. */
  alternatives(): string | null {
    const choices = [this.#sequence()]
    while (this.#take('|')) choices.push(this.#sequence())
    return choices[this.#branch % choices.length] ?? null
  }

  #sequence(): string | null {
    let text: string | null = ''
    while (this.#at < this.#source.length && !this.#sees('|') && !this.#sees(')')) {
      const part = this.#part()
      const times = this.#times()
      text = text === null || part === null ? null : text + part.repeat(times)
    }
    return text
  }

  #part(): string | null {
    if (this.#take('^') || this.#take('$')) return ''
    if (this.#take('(')) return this.#group()
    const end = this.#sees('[') ? this.#endOfClass() : this.#at + this.#lengthOfCharacter()
    const unit = this.#source.slice(this.#at, end)
    this.#at = end
    if (unit === String.raw`\b` || unit === String.raw`\B`) return ''
    if (/^[\w/-]$/.test(unit)) return unit // most characters: no expression is compiled for them
    const matches = toRegExp(`^${unit}$`)
    return characters.find((character) => matches?.test(character)) ?? null
  }

  #group(): string | null {
    const [opening = '', look] = /^\?(?:(<?[=!])|:|<[^>]+>)/.exec(this.#source.slice(this.#at)) ?? []
    this.#at += opening.length
    const text = this.alternatives()
    this.#take(')')
    return look === undefined ? text : ''
  }

  #times(): number {
    const [quantifier = '', least] =
      /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(this.#source.slice(this.#at)) ?? []
    this.#at += quantifier.length
    if (least !== undefined) return Number(least) || this.#optional
    return quantifier.startsWith('*') || quantifier.startsWith('?') ? this.#optional : 1
  }

  /** `a`, `\d`, `\x41`: what one character stands for. */
  #lengthOfCharacter(): number {
    const escape = /^\\(?:u\{?[\da-f]{4,5}\}?|x[\da-f]{2}|p\{[^}]*\}|.)/i.exec(this.#source.slice(this.#at))
    return escape?.[0].length ?? 1
  }

  #endOfClass(): number {
    let end = this.#at + 1
    while (end < this.#source.length && this.#source[end] !== ']') end += this.#source[end] === '\\' ? 2 : 1
    return end + 1
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at)
  }

  #take(text: string): boolean {
    const isNext = this.#sees(text)
    if (isNext) this.#at += text.length
    return isNext
  }
}
