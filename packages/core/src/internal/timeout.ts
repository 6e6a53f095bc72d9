/** Bounds a wait. */

/**
 * Settles like the promise, or after `ms` milliseconds like `onTimeout`, which may throw. The promise itself goes on:
 * pass an AbortSignal to what can be stopped. With `ref: false` the timer alone does not keep the process running.
 */
export async function withTimeout<T, L = T>(
  promise: PromiseLike<T>,
  ms: number,
  onTimeout: () => L,
  { ref = true } = {},
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, ms, 'late')
    if (!ref) timer.unref()
  })
  try {
    const winner = await Promise.race([Promise.resolve(promise).then((value) => ({ value })), late])
    return winner === 'late' ? onTimeout() : winner.value
  } finally {
    clearTimeout(timer)
  }
}

/** Waits until the work settles, at most so many milliseconds; whether it succeeds does not matter. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  await withTimeout(
    work.catch(() => {}),
    milliseconds,
    () => {},
  )
}
