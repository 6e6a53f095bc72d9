/** What a page needs when its first row is there: the search, and what follows the changes of others. A file of its own. */
export { createSearch } from './model/search.ts'
export { highlight } from './view/highlight.ts'
export { Others } from './others/others.tsx'
