// Compiling better-sqlite3 12 takes a minute and a C++ tool chain: it is installed only where 13 cannot run.
module.exports = {
  hooks: {
    readPackage(manifest) {
      const isOnlyForNode20 = manifest.name === 'better-sqlite3' && manifest.version.startsWith('12.')
      return isOnlyForNode20 ? { ...manifest, engines: { node: '<22' } } : manifest
    },
  },
}
