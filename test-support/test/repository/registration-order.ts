/** One order in which an application registers the plugins, stated and followed by everything that readers copy. */

const names = ['errors', 'publicRoutes', 'inertia', 'events', 'settings', 'settingsUi', 'modules']

/** As every document states it. */
export const registrationOrder = `${names.join(' → ')} → the application's own routes`

/** Returns the lines of a file that state another order. */
export function statedOrders(path: string, text: string): string[] {
  return text
    .split('\n')
    .filter((line) => / → (?:await )?(?:public ?routes|settings|modules)\b.*→ .*routes/i.test(line))
    .filter((line) => !line.includes(registrationOrder))
    .map((line) => `${path}: ${line.trim()}`)
}

/** Returns the plugins that code registers after one that follows them, application by application. */
export function misplacedPlugins(path: string, code: string): string[] {
  const steps = code.matchAll(/\bFastify\(|\.register\(\s*(\w+)/g)
  const problems: string[] = []
  let latest = 0
  for (const [, plugin] of steps) {
    const at = plugin === undefined ? 0 : names.indexOf(plugin)
    if (at === -1) continue
    if (plugin !== undefined && at < latest)
      problems.push(`${path}: ${plugin} is registered after ${names[latest]}`)
    latest = at
  }
  return problems
}

/** The code that a Markdown file shows, block by block. */
export function codeOf(markdown: string): string[] {
  return [...markdown.matchAll(/^```(?:ts|tsx|js|jsx)\b[^\n]*\n([^]*?)^```$/gm)].map(([, code = '']) => code)
}
