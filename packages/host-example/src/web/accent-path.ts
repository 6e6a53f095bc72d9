/** Where the style sheet of an accent is: the policy allows no style within the document. */
export function accentPath(color: string): string {
  return `/accent/${color.slice(1)}.css`
}
