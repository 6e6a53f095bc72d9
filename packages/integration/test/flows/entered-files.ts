/** Finds the files that are entered while something happens: the coverage of V8, read before and after. */
import { Session } from 'node:inspector/promises'

/** `…/packages/core/dist/caller.js` → `core/caller.ts` */
const built = /\/packages\/([^/]+)\/dist\/(.+)\.js$/

export class EnteredFiles {
  readonly #session = new Session()

  /** Counts from now on. Call it before the first function of interest runs, in a process that nothing else measures. */
  async start(): Promise<void> {
    this.#session.connect()
    await this.#session.post('Profiler.enable')
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  }

  /**
   * Returns the files of the packages a function of which ran during the task: `core/caller.ts`. What a module does at
   * its top level, while it is imported, does not count.
   */
  async during(task: () => Promise<unknown>): Promise<string[]> {
    await this.#take()
    await task()
    const scripts = await this.#take()
    return scripts.flatMap(({ url, functions }) => {
      const [, name, file] = built.exec(url) ?? []
      const isEntered = functions.some(({ ranges }) =>
        ranges.some(({ startOffset, count }) => startOffset > 0 && count > 0),
      )
      return name !== undefined && isEntered ? [`${name}/${file}.ts`] : []
    })
  }

  /** The calls since the last time. */
  async #take() {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage')
    return result
  }
}
