import fc from 'fast-check'
import { test } from 'tap'
import { SettingType } from '#src/setting-definition.js'
import { isColor, isDateTime, isEmail } from '#src/values/validate.js'
import { problemsOf, registered } from '../registered.js'

test('decision 8: a color is #RRGGBB', async (t) => {
  for (const color of ['#3b82f6', '#3B82F6', '#000000', '#FFFfff']) t.ok(isColor(color), color)
  for (const color of [
    'red',
    '#fff',
    '3b82f6',
    '#3b82f6\n',
    ' #3b82f6',
    '#3b82f6ff',
    '#3b82fg',
    '##3b82f',
    '#３b82f6',
  ]) {
    t.notOk(isColor(color), JSON.stringify(color))
  }
})

test('decision 8: a Url is absolute, http or https, and as it will be used', async (t) => {
  const url = registered(SettingType.Url)
  const good = [
    'https://example.com',
    'https://example.com/path?query=1#part',
    'http://localhost:3000/',
    'HTTPS://EX.com',
    'http://[::1]:8080/x',
    'https://bücher.example/ü',
    'https://example.com/@user',
    'https://example.com/?mail=a@b.c',
  ]
  for (const text of good) t.same(problemsOf(url, text), [], text)
  const bad = [
    '/relative/path',
    'not-a-url',
    'example.com',
    '//example.com',
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'file:///etc/passwd',
    'ftp://h',
    'data:text/html,x',
    'https:',
    'https://',
    'https:///x',
    'https:/example.com',
    'https:example.com',
    'http:\\\\example.com',
    'https://example.com\\@evil.example',
    ' https://example.com',
    'https://example.com ',
    'https://exa mple.com',
    'https://example.com/\n',
    'https://example.com/\u0001',
    'https://example.com:99999/',
    'https://exa%mple.com',
    'https://[::1',
    'https://?x',
  ]
  for (const text of bad) t.match(problemsOf(url, text), [/full address/], JSON.stringify(text))
})

test('decision 8: a Url with credentials is refused and says so', async (t) => {
  for (const text of [
    'https://user:secret@example.com',
    'https://user@example.com/',
    'https://@example.com',
    'http://:x@h',
  ]) {
    const problems = problemsOf(registered(SettingType.Url), text)
    t.match(problems, [/without a user name and password/], text)
  }
})

test('decision 8: an Email is one address', async (t) => {
  const good = [
    'user@example.com',
    'first.last+tag@sub.example.co.uk',
    "o'hara@example.com",
    'root@localhost',
    'info@bücher.example',
    `${'a'.repeat(64)}@example.com`,
    'x@1.example',
  ]
  for (const text of good) t.ok(isEmail(text), text)
  const bad = [
    '',
    'not-an-email',
    '@example.com',
    'user@',
    'user@@example.com',
    'a@b@example.com',
    'user@example..com',
    'user@.example.com',
    'user@example.com.',
    'user@-example.com',
    'user@example-.com',
    '.user@example.com',
    'user.@example.com',
    'us..er@example.com',
    'user name@example.com',
    'user@example.com ',
    ' user@example.com',
    'user@example.com\n',
    'a@b.c\nBcc: x@y.z',
    'a@b.c,x@y.z',
    'a@b.c;x@y.z',
    'Name <user@example.com>',
    '"quoted"@example.com',
    'üser@example.com',
    'user@exam_ple.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(64)}.com`,
    `a@${`${'b'.repeat(60)}.`.repeat(5)}com`,
  ]
  for (const text of bad) t.notOk(isEmail(text), JSON.stringify(text))
})

test('decision 8: a DateTime is an ISO 8601 date-time with an optional offset', async (t) => {
  const good = [
    '2025-01-15T14:30:00Z',
    '2025-01-15T14:30:00+02:00',
    '2025-01-15T14:30:00-11:30',
    '2025-01-15T14:30',
    '2025-01-15T14:30Z',
    '2025-01-15T14:30:00.1',
    '2025-01-15T14:30:00.123456789Z',
    '2024-02-29T00:00:00Z',
    '2000-02-29T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ]
  for (const text of good) t.ok(isDateTime(text), text)
  const bad = [
    '',
    '1',
    'not-a-date',
    '1/2/2025',
    '2025-01-15',
    '2025-01-15 14:30:00Z',
    '2025-1-5T14:30:00Z',
    '2025-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2025-04-31T00:00:00Z',
    '2025-00-10T00:00:00Z',
    '2025-13-10T00:00:00Z',
    '2025-01-00T00:00:00Z',
    '2025-01-15T24:00:00Z',
    '2025-01-15T23:60:00Z',
    '2025-01-15T23:59:60Z',
    '2025-01-15T14Z',
    '2025-01-15T14:30:00.Z',
    '2025-01-15T14:30:00.1234567890Z',
    '2025-01-15T14:30:00+2',
    '2025-01-15T14:30:00+24:00',
    '2025-01-15T14:30:00+0200',
    '2025-01-15T14:30:00z',
    '2025-01-15t14:30:00Z',
    '+002025-01-15T14:30:00Z',
    '2025-01-15T14:30:00Z\n',
    '２025-01-15T14:30:00Z',
    '20250115T143000Z',
    '2025-W03-3T14:30:00Z',
  ]
  for (const text of bad) t.notOk(isDateTime(text), JSON.stringify(text))
})

test('decision 8: exactly the days of the calendar are accepted', async () => {
  const field = (max: number) => fc.integer({ min: 0, max })
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 9999 }), field(13), field(32), (year, month, day) => {
      const text = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}T00:00:00Z`
      const date = new Date(Date.UTC(year, month - 1, day))
      const exists =
        date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
      return isDateTime(text) === exists
    }),
    { numRuns: 2000 },
  )
})

test('decision 8: what a machine writes as a date-time is accepted', async () => {
  const date = fc.date({
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  })
  fc.assert(fc.property(date, (value) => isDateTime(value.toISOString())))
})
