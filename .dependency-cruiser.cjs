/** No circles of imports, in any folder; what may import what stands in eslint.config.js. Part of `npm run lint`. */
module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Files that import each other in a circle cannot be understood or moved one by one.',
      severity: 'error',
      from: {},
      to: { circular: true }
    }
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Types too: a circle of types is a circle of ideas.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' }
  }
}
