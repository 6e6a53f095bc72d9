/** What a page needs when its first row is there: the changes of others, the search, the menus. A file of its own. */
export { createSearch } from './model/search.ts'
export { FilterMenu } from './view/filter-menu.tsx'
export { highlight } from './view/highlight.ts'
export { MenuPopup } from './menu-popup.tsx'
export { NewsFace, NewsText, Recent } from './others/news-text.tsx'
export { Others } from './others/others.tsx'
