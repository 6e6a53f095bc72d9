/** What `app.publicRoutes` is: the registry of whoever asks, with the diagnostics of the whole application. */
import type { Explain, Explanation } from './explain.ts'
import { printSurface } from './print.ts'
import type { SurfaceEntry } from './surface.ts'
import { PublicRouteRegistry, type RuleBook } from '../registry.ts'

export interface Diagnostics {
  readonly explain: Explain
  readonly surface: () => readonly SurfaceEntry[]
}

export class PublicRoutes extends PublicRouteRegistry {
  readonly #diagnostics: Diagnostics

  constructor(book: RuleBook, source: string, prefix: string, diagnostics: Diagnostics) {
    super(book, source, prefix)
    this.#diagnostics = diagnostics
  }

  /**
   * How the gate decides a request and why, found out by sending it through the router up to the gate; hooks that run
   * before the gate see it. The target is taken as it is, as a client would put it on the wire.
   * @throws {FMOD_PUBLIC_ROUTES_NOT_READY}
   */
  explain(...request: Parameters<Explain>): Promise<Explanation> {
    return this.#diagnostics.explain(...request)
  }

  /** Each rule with the routes it opens; for routes with parameters it rests on sample values. */
  surface(): readonly SurfaceEntry[] {
    return this.#diagnostics.surface()
  }

  /** The surface as a table. */
  print(): string {
    return printSurface(this.surface())
  }
}
