import { canonicalPath, fullyDecoded, maxPathLength } from '@fastify-modular/core/internal'
import fc from 'fast-check'
import { test } from 'tap'

const canonical: readonly [string, string][] = [
  ['/', '/'],
  ['/open', '/open'],
  ['/open/', '/open/'],
  ['/open?x=/static/', '/open'],
  ['/open?a?b#c', '/open'],
  ['/?', '/'],
  ["/a-b._~!$&'()*+,=:@", "/a-b._~!$&'()*+,=:@"],
  ['/static/my%20file%C3%A9.css', '/static/my fileé.css'],
  ['/%F0%9F%98%80', '/😀'],
  ['/urn%3Aa%40b', '/urn%3Aa%40b'],
  ['/a%2Bb', '/a%2Bb'],
  ['/a%21', '/a!'],
  ['/...', '/...'],
  ['/.well-known/x', '/.well-known/x'],
  ['/a/..b', '/a/..b'],
  [`/${'a'.repeat(maxPathLength - 1)}`, `/${'a'.repeat(maxPathLength - 1)}`],
]

for (const [target, path] of canonical) {
  test(`decision 31: ${target.slice(0, 60)} is canonical`, async (t) => {
    t.equal(canonicalPath(target), path)
  })
}

const ambiguous: readonly [string, string][] = [
  ['', 'no text'],
  ['*', 'asterisk-form'],
  ['*api/secret', 'asterisk before a path, which the router would match'],
  ['open', 'no leading slash'],
  ['?x', 'query alone'],
  ['http://host/open', 'absolute-form'],
  ['//open', 'empty first segment'],
  ['/a//b', 'empty segment'],
  ['/a//', 'empty last segment'],
  ['/.', 'dot segment'],
  ['/..', 'dot segment at the end'],
  ['/a/./b', 'dot segment inside'],
  ['/a/../b', 'parent segment'],
  ['/a/..?x', 'parent segment before the query'],
  ['/%2e%2e/a', 'encoded dots'],
  ['/a/%2E', 'encoded dot'],
  ['/%61pi', 'encoded letter'],
  ['/a%2Db', 'encoded hyphen'],
  ['/a%2Fb', 'encoded slash'],
  ['/a%2fb', 'encoded slash in lower case'],
  ['/a%5Cb', 'encoded backslash'],
  ['/a\\b', 'backslash'],
  ['/a%3Fb', 'encoded question mark'],
  ['/a%23b', 'encoded number sign'],
  ['/a#b', 'fragment'],
  ['/a;b', 'semicolon'],
  ['/a%3Bb', 'encoded semicolon'],
  ['/a%25b', 'encoded percent sign'],
  ['/a%2561', 'double encoding'],
  ['/a%00', 'NUL'],
  ['/a%0A', 'newline'],
  ['/a%7F', 'delete'],
  ['/a%C2%85', 'next line'],
  ['/a%E2%80%A8', 'line separator'],
  ['/a%EF%BF%BD', 'replacement character'],
  ['/a%C0%AF', 'overlong slash'],
  ['/a%ED%A0%80', 'lone surrogate'],
  ['/a%C3', 'cut UTF-8'],
  ['/a%', 'cut encoding'],
  ['/a%4', 'half an encoding'],
  ['/a%4?1', 'encoding across the query'],
  ['/a%zz', 'no digits'],
  ['/a%u0041', 'a Microsoft encoding'],
  ['/é', 'raw text beyond ASCII'],
  ['/a b', 'space'],
  ['/a\tb', 'tab'],
  ['/a\u0000b', 'raw NUL'],
  ['/a|b', 'pipe'],
  ['/a"b', 'quote'],
  ['/a[1]', 'brackets'],
  [`/${'a'.repeat(maxPathLength)}`, 'too long'],
  [`/a%2F${'a'.repeat(20_000)}`, 'far too long'],
]

for (const [target, why] of ambiguous) {
  test(`decision 31: ${JSON.stringify(target.slice(0, 40))} (${why}) is not canonical`, async (t) => {
    let reason = ''
    t.equal(
      canonicalPath(target, (text) => (reason = text)),
      null,
    )
    t.match(reason, /^its? /)
  })
}

const unreserved = 'ABCXYZabcxyz0189-._~'
const plainSegment = fc
  .string({ unit: fc.constantFrom(...`${unreserved}!$&'()*+,=:@`.split('')), minLength: 1, maxLength: 12 })
  .filter((segment) => segment !== '.' && segment !== '..')
const plainPath = fc
  .array(plainSegment, { minLength: 1, maxLength: 5 })
  .map((segments) => `/${segments.join('/')}`)
/** Text that encodeURIComponent spells canonically: no separators, no control characters. */
const textSegment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }).filter(
  (text) =>
    // oxlint-disable-next-line no-control-regex -- control characters are what this leaves out
    !/[/\\?#;%\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/.test(text) && text !== '.' && text !== '..',
)

test('property 1: a plain path is its own canonical form, whatever query follows', async (t) => {
  fc.assert(
    fc.property(plainPath, fc.string({ unit: 'grapheme' }), (path, query) => {
      return canonicalPath(path) === path && canonicalPath(`${path}?${query}`) === path
    }),
    { numRuns: 2000, seed: 1 },
  )
  t.pass()
})

test('property 1: what encodeURIComponent spells decodes once to the text it was made from', async (t) => {
  fc.assert(
    fc.property(fc.array(textSegment, { minLength: 1, maxLength: 4 }), (segments) => {
      const path = canonicalPath(`/${segments.map(encodeURIComponent).join('/')}`)
      return path !== null && fullyDecoded(path) === `/${segments.join('/')}`
    }),
    { numRuns: 3000, seed: 2 },
  )
  t.pass()
})

test('property 1: a canonical path has the spelling that decodes to it, and no router would read another path', async (t) => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom(...'/.a%2Ff3AC;?:\\#é'.split('')),
      }),
      (tail) => {
        const target = `/${tail}`
        const path = canonicalPath(target)
        if (path === null) return true
        return (
          path === decodeURI(target.split('?', 1)[0] ?? '') &&
          path.startsWith('/') &&
          !/\/\/|\/\.{1,2}(\/|$)|[;\\#?]/.test(path)
        )
      },
    ),
    { numRuns: 20_000, seed: 3 },
  )
  t.pass()
})

const poison = fc.constantFrom(...String.raw`%2f %5c %2e %00 %0a %25 %3b // /./ /../ ; \ #`.split(' '))

test('property 2: nothing dangerous can be put into a canonical path', async (t) => {
  fc.assert(
    fc.property(plainPath, fc.nat(), poison, (path, at, text) => {
      const position = 1 + (at % path.length)
      return canonicalPath(path.slice(0, position) + text + path.slice(position)) === null
    }),
    { numRuns: 5000, seed: 4 },
  )
  t.pass()
})

test('property 5: percent-encoding any unreserved character makes a path non-canonical', async (t) => {
  fc.assert(
    fc.property(plainPath, fc.nat(), fc.boolean(), (path, at, upper) => {
      const places = path
        .split('')
        .flatMap((character, place) => (unreserved.includes(character) ? [place] : []))
      fc.pre(places.length > 0)
      const place = places[at % places.length] ?? 0
      const code = path.charCodeAt(place).toString(16)
      const encoded = `${path.slice(0, place)}%${upper ? code.toUpperCase() : code}${path.slice(place + 1)}`
      return canonicalPath(encoded) === null
    }),
    { numRuns: 3000, seed: 5 },
  )
  t.pass()
})

test('any text at all is judged without an exception', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => typeof (canonicalPath(text) ?? '') === 'string'),
    { numRuns: 3000, seed: 6 },
  )
  t.pass()
})
