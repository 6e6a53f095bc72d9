// Who is signed in, and what they may: in memory, as in ../../servers/everything.mjs.

export const sessions = new Map([['1f6f0b4c', { id: 'alice', permissions: ['Things.Read'] }]])

/** The permission check of GET /private. */
export function mayRead(user) {
  return user.isAdmin || user.permissions.includes('Things.Read')
}
