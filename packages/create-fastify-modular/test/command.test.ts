/** The command: its options, its questions, and what it refuses. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { test } from 'tap'
import { move } from '#src/create.js'
import { contentOf, create, scratchFolder } from './command.js'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const own = manifestOf(join(import.meta.dirname, '..'))
const contributing = readFileSync(join(import.meta.dirname, '../../../CONTRIBUTING.md'), 'utf8')

test('the name, the versions and the driver of the database are in the files', async (t) => {
  const passwords = new Set()
  for (const database of ['sqlite', 'postgres']) {
    const folder = join(scratchFolder(t), 'corner-shop')
    const { code, output } = await create([folder, '--no-install', `--database=${database}`])
    t.equal(code, 0)
    t.match(output, /^Created corner-shop\.\n\nNext:\n {2}cd .*\n {2}npm install\n/)
    t.match(output, /\n {2}npm run dev\n {2}npm test\n$/)

    const { name, dependencies } = manifestOf(folder)
    t.equal(name, 'corner-shop')
    t.equal(dependencies['@fastify-modular/core'], `^${own.version}`)
    const [, packed = ''] = /cd my-app && npm install \S+\{(.*)\}/.exec(contributing) ?? []
    t.same(
      packed.split(',').map((each) => `@fastify-modular/${each}`),
      Object.keys(dependencies).filter((each) => each.startsWith('@fastify-modular/')),
      'CONTRIBUTING installs all of them from tarballs',
    )
    t.equal('pg' in dependencies, database === 'postgres')
    t.equal('better-sqlite3' in dependencies, database === 'sqlite' && !isBuiltin('node:sqlite'))
    const texts = ['README.md', 'src/app.ts', 'src/home.ts'].map((file) =>
      readFileSync(join(folder, file), 'utf8'),
    )
    t.notMatch(texts.join(''), /my-app/)
    t.match(readFileSync(join(folder, 'src/store.ts'), 'utf8'), new RegExp(`settings/${database}`))
    const secrets = /^DEVELOPMENT_PASSWORD=([\w-]{16})\nSESSION_SECRET=[\w-]{43}$/m
    const environment = readFileSync(join(folder, '.env'), 'utf8')
    t.match(environment, secrets)
    passwords.add(secrets.exec(environment)?.[1])
    t.match(readFileSync(join(folder, '.gitignore'), 'utf8'), /^\.env$/m)
    for (const text of [output, environment, readFileSync(join(folder, 'src/store.ts'), 'utf8')])
      t.equal(text.includes('postgres://user:password@127.0.0.1:5432/corner_shop'), database === 'postgres')
    const [readme = ''] = texts
    t.equal(readme.includes('`DATABASE_URL`'), database === 'postgres')
    t.equal(readme.includes('`DATABASE_FILE`'), database === 'sqlite')
    t.ok(contentOf(folder).includes('.gitignore'))
    t.equal(statSync(folder).mode & 0o777, 0o777 & ~process.umask(), 'the folder is an ordinary one')
  }
  t.equal(passwords.size, 2, 'each has a password of its own')
})

test('the template takes the versions that this repository tests', (t) => {
  const template = manifestOf(join(import.meta.dirname, '../template'))
  const workspace = readFileSync(join(import.meta.dirname, '../../../pnpm-workspace.yaml'), 'utf8')
  const catalog = workspace.slice(workspace.indexOf('\ncatalog:'))
  for (const [name, range] of Object.entries({ ...template.dependencies, ...template.devDependencies })) {
    if (name.startsWith('@fastify-modular/')) {
      t.equal(range, '*', `${name}: the command puts its own version there`)
      continue
    }
    if (name === 'fastify') continue // continuous integration puts other versions there
    const [, tested = ''] = new RegExp(`^ {2}'?${name}'?: (.*)$`, 'm').exec(catalog) ?? []
    t.ok(
      tested.split(' ').some((each) => range === `^${each.replace('^', '')}`),
      `${name} ${range}: ${tested}`,
    )
  }
  t.end()
})

test('hostile names and folders are refused, and nothing is written', async (t) => {
  const folder = scratchFolder(t)
  mkdirSync(join(folder, 'full'))
  writeFileSync(join(folder, 'full/package.json'), '{}')
  mkdirSync(join(folder, 'hidden'))
  writeFileSync(join(folder, 'hidden/.env'), '')
  writeFileSync(join(folder, 'file'), '')
  symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'))
  const before = contentOf(folder)
  const refusals: readonly (readonly [string, RegExp])[] = [
    ['', /Name the folder/],
    [' ', /Name the folder/],
    ['/', /cannot be the name of a package/],
    [join(folder, 'My App'), /cannot be the name of a package/],
    [join(folder, 'UPPER'), /capital letters/],
    [join(folder, 'node_modules'), /not a valid package name/],
    [join(folder, '.hidden'), /cannot start with a period/],
    [join(folder, '_private'), /cannot start with an underscore/],
    [join(folder, 'http'), /core module/],
    [join(folder, "it's"), /special characters/],
    [join(folder, '$(touch x)'), /cannot be the name of a package/],
    [join(folder, 'a;b'), /URL-friendly/],
    [join(folder, 'größe'), /URL-friendly/],
    [join(folder, 'line\nbreak'), /URL-friendly/],
    [`${join(folder, 'nul')}\0`, /Name the folder/],
    [join(folder, 'x'.repeat(215)), /214/],
    [join(folder, 'full'), /is not empty/],
    [join(folder, 'hidden'), /is not empty/],
    [join(folder, 'file'), /is a file/],
    [join(folder, 'file/below'), /cannot be written: E/],
    [join(folder, 'new/file/../../file/below'), /cannot be written: E/],
    [join(folder, 'dangling'), /cannot be written: E/],
    [join(folder, 'new', 'x'.repeat(300), 'shop'), /cannot be written: E/],
  ]
  for (const [name, message] of refusals) {
    for (const flags of [[], ['--yes']]) {
      const { code, output, errors } = await create(['--no-install', ...flags, '--', name])
      t.equal(code, 1, name)
      t.equal(output, '')
      t.match(errors, message)
      t.notMatch(errors, /\n {4}at /, 'no stack')
    }
  }
  t.same(contentOf(folder), before)
})

test('options that do not exist are refused before anything is written or asked', async (t) => {
  const folder = scratchFolder(t)
  const refusals: readonly (readonly [readonly string[], RegExp])[] = [
    [['--databse', 'sqlite'], /Unknown option '--databse'.*See --help/],
    [['--database', 'mysql'], /There is no database "mysql": sqlite or postgres/],
    [['--database', '__proto__'], /There is no database/],
    [['--database'], /--database.*See --help/],
    [['--yes=no'], /--yes.*See --help/],
    [['-x'], /Unknown option '-x'/],
    [['--__proto__'], /Unknown option/],
    [[join(folder, 'b')], /Name one folder, not 2/],
  ]
  for (const [args, message] of refusals) {
    const { code, output, errors } = await create([join(folder, 'a'), ...args], { answers: [] })
    t.equal(code, 1, args.join(' '))
    t.equal(output, '')
    t.match(errors, message)
    t.equal(errors.trim().split('\n').length, 1)
  }
  t.same(contentOf(folder), [])
})

test('an existing empty folder is filled, and missing parents are made', async (t) => {
  const folder = scratchFolder(t)
  mkdirSync(join(folder, 'empty'))
  const { ino } = statSync(join(folder, 'empty'))
  for (const name of ['empty', 'apps/web/shop']) {
    t.equal((await create([join(folder, name), '--no-install'])).code, 0)
    t.ok(statSync(join(folder, name, 'src/app.ts')).isFile())
  }
  t.equal(statSync(join(folder, 'empty')).ino, ino, 'it is the folder that a shell may stand in')
  t.same(
    contentOf(folder).filter((path) => /^\.|\/\.(?!gitignore$|env$)/.test(path)),
    [],
    'no draft is left',
  )
})

test('nothing is written around an existing empty folder: that may be read-only, or another file system', async (t) => {
  const folder = scratchFolder(t)
  mkdirSync(join(folder, 'app'))
  utimesSync(folder, 0, 0)
  t.equal((await create([join(folder, 'app'), '--no-install'])).code, 0)
  t.equal(statSync(folder).mtimeMs, 0)
})

test('all of it, or nothing: what was moved before one file failed is removed again', (t) => {
  const folder = scratchFolder(t)
  const draft = join(folder, 'app/.draft')
  mkdirSync(join(draft, 'a'), { recursive: true })
  mkdirSync(join(draft, 'b'))
  writeFileSync(join(draft, 'a/file'), '')
  mkdirSync(join(folder, 'app/b/of-another-program'), { recursive: true }) // no folder can take its place
  t.throws(() => move(draft, join(folder, 'app')), { code: 'ENOTEMPTY' })
  t.same(
    contentOf(join(folder, 'app')).filter((path) => !path.startsWith('.draft')),
    ['b', 'b/of-another-program'],
  )
  t.end()
})

test(
  'a shell takes the path that is printed for one word',
  { skip: process.platform === 'win32' && 'its shell has other rules' },
  async (t) => {
    const folder = scratchFolder(t)
    for (const parent of ['My Projects', "it's $HOME `x`", 'größe']) {
      const { output } = await create([join(folder, parent, 'shop'), '--no-install'])
      const [, step = ''] = /^ {2}(cd .*)$/m.exec(output) ?? []
      const { stdout } = spawnSync('sh', ['-c', `${step} && pwd -P`], { encoding: 'utf8' })
      t.equal(stdout, `${join(folder, parent, 'shop')}\n`, step)
    }
    const cwd = process.cwd()
    t.teardown(() => process.chdir(cwd))
    process.chdir(folder)
    t.match((await create(['--no-install', '--', '-dir/shop'])).output, /^ {2}cd \.\/-dir\/shop$/m)
  },
)

test(
  'a folder that cannot be written is named, and nothing is left',
  { skip: process.getuid?.() === 0 && 'root may write everywhere' },
  async (t) => {
    const folder = scratchFolder(t)
    chmodSync(folder, 0o500)
    const { code, errors } = await create([join(folder, 'shop'), '--no-install'])
    chmodSync(folder, 0o700)
    t.equal(code, 1)
    t.match(errors, /cannot be written: EACCES/)
    t.same(contentOf(folder), [])
  },
)

test('at a terminal it asks for what is missing', async (t) => {
  const folder = scratchFolder(t)
  const shop = join(folder, 'shop')
  const both = await create(['--no-install'], { answers: [shop, 'postgres'] })
  t.match(both.output, /Folder of the application \(my-app\): .*Database, sqlite or postgres \(sqlite\): /s)
  t.ok('pg' in manifestOf(shop).dependencies)

  const one = await create(['--no-install', '--database', 'sqlite'], { answers: [join(folder, 'one')] })
  t.notMatch(one.output, /Database,/)
  const none = await create(['--no-install', '--yes', join(folder, 'none')], { answers: [] })
  t.notMatch(none.output, /Database,/)
  const quiet = await create(['--no-install', join(folder, 'quiet')])
  t.equal(quiet.code, 0, 'without a terminal it asks nothing')
  t.equal('pg' in manifestOf(join(folder, 'quiet')).dependencies, false)
})

test('the end of the input ends the questions, and nothing is written', async (t) => {
  const folder = scratchFolder(t)
  for (const answers of [[join(folder, 'shop'), null], [join(folder, 'shop'), 'mysql'], ['UPPER']]) {
    const { code, errors } = await create(['--no-install'], { answers })
    t.equal(code, 1)
    t.match(errors, /Nothing was created|There is no database|cannot be the name/)
  }
  const ended = await create(['--no-install'], { answers: [null] })
  t.match(ended.errors, /Nothing was created/)
  t.same(contentOf(folder), [])
})

test('--help and --version are answered, whatever else is there', async (t) => {
  const help = await create(['--help', '/'])
  t.equal(help.code, 0)
  for (const option of ['--database', '--no-install', '--yes', '--help', '--version'])
    t.ok(help.output.includes(option))
  t.same(await create(['-v']), { code: 0, output: `${own.version}\n`, errors: '' })
})

test('what cannot be installed leaves the files, says so, and fails', async (t) => {
  const folder = scratchFolder(t)
  const { PATH } = process.env
  t.teardown(() => void (process.env['PATH'] = PATH))
  process.env['PATH'] = folder // no program is there
  const env = { npm_config_user_agent: 'pnpm/10.1.0 npm/? node/v22.0.0' }
  const { code, output, errors } = await create([join(folder, 'shop')], { env })
  t.equal(code, 1)
  t.match(errors, /The files are written, but "pnpm install" failed/)
  t.match(output, /\n {2}pnpm install\n/)
  t.ok(statSync(join(folder, 'shop/package.json')).isFile())
})
