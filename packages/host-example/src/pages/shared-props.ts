/** What the server sends with every page. */
import { usePage } from '@inertiajs/react'
import type { SharedProps } from '../shared-props.ts'

/** The props that every page shares. Error pages of failed requests come without them. */
export function useSharedProps(): Partial<SharedProps> {
  return usePage<Partial<SharedProps>>().props
}
