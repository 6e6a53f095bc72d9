/** What a page needs when its first row is there: the changes of others, and the search. A file of its own. */
export { createSearch } from './model/search.ts'
export { FilterMenu } from './page/filter-menu.tsx'
export { GroupField } from './page/group-field.tsx'
export { highlight } from './page/highlight.ts'
export { NewsFace, NewsText, RecentFaces, RecentLine } from './others/news-text.tsx'
export { Others } from './others/others.tsx'
