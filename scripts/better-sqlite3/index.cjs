// What `better-sqlite3` means in this workspace (`overrides` in pnpm-workspace.yaml).
// 13 brings its binaries along and ends Node 20 with a segmentation fault; 12 has to be compiled and can abort on Node 24.
const isNode20 = process.versions.node.startsWith('20.')

module.exports = isNode20 ? require('better-sqlite3-12') : require('better-sqlite3-13')
