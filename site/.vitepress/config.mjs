// The Markdown of the repository as pages. Links stay what they are on GitHub: to files, which become links between pages.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const github = 'https://github.com/fastify-modular/fastify-modular'
const own = new RegExp(`^${github}/(?:blob|tree)/main/`)

/** Each entry is a pattern of files that are pages. */
const pages = [
  /^[A-Z]+\.md$/,
  /^docs\/.+\.md$/,
  /^(?:packages\/[^/]+|bench|examples|examples\/[^/]+)\/README\.md$/,
]

export default {
  title: 'fastify-modular',
  description: 'The back office of a Fastify server, as plugins',
  srcDir: '..',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache',
  srcExclude: [
    '**/node_modules/**',
    '.changeset/**',
    '.github/**',
    'site/**',
    '**/{src,test,dist,dist-test}/**',
    '**/CHANGELOG.md',
  ],
  rewrites: addressOf,
  lastUpdated: false,
  transformPageData: ({ filePath, frontmatter }) =>
    filePath === 'docs/features.md' ? { frontmatter: { ...frontmatter, aside: false } } : undefined,
  markdown: {
    config: ({ core }) => {
      core.ruler.push('repository-links', mendLinks)
      core.ruler.push('type-parameters', showTypeParameters)
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Features', link: '/' },
      { text: 'One plugin', link: '/docs/guides/one-plugin' },
      { text: 'Documentation', link: '/docs/' },
      { text: 'Examples', link: '/examples/' },
      { text: 'GitHub', link: github },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    docFooter: { prev: false, next: false },
  },
}

/** One group for each list of docs/README.md: its order is the order of reading. */
function sidebar() {
  const text = readFileSync(join(root, 'docs/README.md'), 'utf8')
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      collapsed: false,
      items: [...section.matchAll(/^(?:\d+\.|-|\|) \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, title, target]) => ({
        text: title,
        link: pageOf(posix.join('docs', target)) ?? target,
      })),
    }))
    .filter(({ items }) => items.length > 0)
}

/** A link to a page becomes its address, one to another file of the repository leads to GitHub, one to nothing fails the build. */
function mendLinks({ tokens, env }) {
  const source = relative(root, env.realPath ?? env.path)
    .split(sep)
    .join('/')
  const links = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open')
  for (const link of links) {
    const href = link.attrGet('href')
    if (href.startsWith('#') || (/^[a-z]+:/i.test(href) && !own.test(href))) continue
    const [path, fragment] = href.replace(own, '').split('#')
    const target = own.test(href) ? path : posix.join(dirname(source), path)
    const address =
      pageOf(target) ?? (existsSync(join(root, target)) ? `${github}/blob/main/${target}` : undefined)
    if (address) link.attrSet('href', fragment ? `${address}#${fragment}` : address)
  }
}

/** `GetSettingAs<T>` outside of code is not an element. */
function showTypeParameters({ tokens }) {
  const inline = tokens.flatMap(({ children }) => children ?? [])
  for (const token of inline) {
    if (token.type === 'html_inline' && /^<[A-Z]/.test(token.content)) token.type = 'text'
  }
}

/** The address of a page, for its file or its folder; undefined for what is not one. */
function pageOf(target) {
  const clean = target.replace(/\/$/, '')
  const file = clean.endsWith('.md') ? clean : posix.join(clean, 'README.md')
  if (!existsSync(join(root, file)) || !pages.some((page) => page.test(file))) return undefined
  return `/${addressOf(file)
    .replace(/(^|\/)index\.md$/, '$1')
    .replace(/\.md$/, '')}`
}

/** The features are the home of the site; a README is the page of its folder, but for that of the repository. */
function addressOf(file) {
  if (file === 'docs/features.md') return 'index.md'
  return file === 'README.md' ? 'readme.md' : file.replace(/\/README\.md$/, '/index.md')
}
