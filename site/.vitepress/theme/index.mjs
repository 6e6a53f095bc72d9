export { default } from 'vitepress/theme'
// oxlint-disable-next-line import/no-unassigned-import -- Vite puts it into the style sheet
import './style.css'
