/** What the server says that an element needs, its texts and its styles. */
import type { PageConfig } from '../document.ts'
import type { Messages } from '../texts/messages.ts'
import type * as tenantPage from './tenant-page.tsx'
import { request } from './request.ts'
import { tenantPart } from './use-more.ts'

/** What a page is drawn from. */
export interface Content {
  readonly config: PageConfig
  /** Of the language, those of the host among them. */
  readonly texts: Messages
  /** Of the page of an organisation. */
  readonly ofTenant: typeof tenantPage | undefined
  /** For a shadow root. */
  readonly sheets: CSSStyleSheet[]
}

/** Style sheets by address: elements of one look share theirs. */
const sheetsByAddress = new Map<string, Promise<CSSStyleSheet>>()

/** Loads what a page shows in documents of hosts, as that organisation has it where one is named. */
export async function load(address: string, tenant?: string): Promise<Content> {
  const config = (await (await request(address, tenant)).json()) as PageConfig // of our own server
  const [content, sheets] = await Promise.all([
    withTexts(config, address),
    Promise.all(config.styles.map((style) => styleOf(new URL(style, address).href))),
  ])
  return { ...content, sheets }
}

/** Its addresses are relative to `base`. */
export async function withTexts(config: PageConfig, base: string): Promise<Content> {
  const { page, messages } = config
  const [texts, ofTenant] = await Promise.all([
    loadTexts(config.texts.map((address) => new URL(address, base).href)),
    page === 'tenant' ? tenantPart.load() : undefined,
  ])
  const baseUrl = new URL(config.baseUrl, base).href
  return { config: { ...config, baseUrl }, texts: { ...texts, ...messages }, ofTenant, sheets: [] }
}

/** The first texts that can be loaded. */
async function loadTexts([address = '', ...others]: readonly string[]): Promise<Messages> {
  try {
    return (await (await request(address)).json()) as Messages // of our own server
  } catch (error) {
    if (others.length === 0) throw error
    return loadTexts(others)
  }
}

function styleOf(address: string): Promise<CSSStyleSheet> {
  const made = sheetsByAddress.get(address) ?? makeStyle(address)
  sheetsByAddress.set(address, made)
  made.catch(() => sheetsByAddress.delete(address))
  return made
}

async function makeStyle(address: string): Promise<CSSStyleSheet> {
  const css = await (await request(address)).text()
  return new CSSStyleSheet().replace(css)
}
