/** What belongs to one machine or one network has no place in the repository. */

/** Spelled apart, or this file would report itself. */
const patterns: readonly (readonly [string, RegExp])[] = [
  [
    'a package registry',
    new RegExp(String.raw`https?://[\w.-]*(?:registry|npmjs|artifactory|nexus|verdaccio)[\w.-]*\.\w+`, 'i'),
  ],
  ['a path of one machine', new RegExp(String.raw`(?<![\w.@/-])/(?:home/\w|Users/\w|root/|work/)`)],
  ['a lockfile download address', new RegExp(String.raw`^\s*(?:tarball|resolved):? .*https?:`, 'm')],
]

/** Returns what a text gives away, one sentence for each kind. */
export function textProblems(path: string, text: string): string[] {
  return patterns.flatMap(([kind, pattern]) => {
    const match = pattern.exec(text)
    return match ? [`${path}: ${kind}: ${match[0]}`] : []
  })
}
