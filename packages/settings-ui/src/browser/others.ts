/** What shows the changes of others: a file of its own, loaded after the first row where the API has a stream. */
export { NewsText } from './others/news-text.tsx'
export { Others } from './others/others.tsx'
