/** One change at a time, with its failure in words. */
import { router } from '@inertiajs/react'
import { useState } from 'react'
import { ApiError } from '../api.ts'

export interface Action {
  readonly isBusy: boolean
  readonly error: string | null
  /** Runs the change, then reads the notes again. Resolves with whether it succeeded. */
  run(change: () => Promise<unknown>): Promise<boolean>
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)

  async function run(change: () => Promise<unknown>): Promise<boolean> {
    setBusy(true)
    setError(null)
    try {
      await change()
      router.reload({ only: ['notes'] })
      return true
    } catch (failure) {
      setError(failure instanceof ApiError ? failure.message : 'That did not work. Please try again.')
      return false
    } finally {
      setBusy(false)
    }
  }

  return { isBusy, error, run }
}
