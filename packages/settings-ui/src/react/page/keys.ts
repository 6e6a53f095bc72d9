/** The two short cuts, as keyboards have them. */

const isApple = /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? '')

export const saveKeys = isApple ? '⌘S' : 'Ctrl S'
export const searchKeys = isApple ? '⌘K' : 'Ctrl K'
