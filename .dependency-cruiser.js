// Who may import whom (docs/ARCHITECTURE.md). `import type` counts: a type is knowledge too.

/** Layer → the parts of src/ that it may import besides itself. What is not listed here is forbidden. */
const layers = {
  model: [],
  core: ['model'],
  protocol: ['model'],
  definition: ['model', 'protocol'],
  platform: ['model', 'protocol'],
  store: ['model', 'core', 'protocol', 'platform'],
  contexts: ['model', 'core/(attempt|health|session)', 'protocol', 'platform'],
  controller: ['model', 'core', 'protocol', 'platform', 'store', 'contexts'],
  worker: ['model', 'core/(attempt|health|session)', 'protocol', 'platform'],
  spawner: ['model', 'core/(attempt|health|session)', 'protocol', 'platform'],
  wfformat: ['model', 'protocol'],
  api: ['model', 'core', 'protocol', 'definition', 'platform', 'store', 'controller'],
  sdk: ['model', 'core/(attempt|health|session)', 'protocol', 'definition', 'platform'],
  cli: ['model', 'protocol', 'definition', 'sdk', 'wfformat'],
};

/** Package → the only parts of src/ that may import it. */
const packages = {
  typebox: ['protocol', 'definition', 'api', 'wfformat'],
  yaml: ['definition'],
  ws: ['platform/node'],
  koffi: ['platform/node', 'spawner'],
  fastify: ['api'],
  '@fastify': ['api'],
  pino: ['platform/node', 'main'],
  commander: ['cli', 'main'],
};

const TEST = '[.]test[.]ts$';
const RAW_IO = ['^src/platform/node/', '^src/store/sqlite/', '^src/spawner/', '^src/main/'];
const PURE_BUILTINS = '^(node:)?(assert|buffer|events|os|path|stream|string_decoder|url|util)(/|$)';

const layerRules = Object.entries(layers).map(([layer, allowed]) => ({
  name: `layer-${layer}`,
  comment: `src/${layer} may import ${allowed.length === 0 ? 'nothing' : allowed.join(', ')} (and itself).`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { path: '^src/', pathNot: [layer, ...allowed].map((part) => `^src/${part}/`) },
}));

const packageRules = Object.entries(packages).map(([name, parts]) => ({
  name: `package-${name.replace('@', '')}`,
  comment: `${name} is known to src/${parts.join(', src/')} only.`,
  severity: 'error',
  from: { path: '^(src|web)/', pathNot: [...parts.map((part) => `^src/${part}/`), TEST] },
  to: { path: `^node_modules/(@types/)?${name}/` },
}));

export default {
  forbidden: [
    ...layerRules,
    ...packageRules,
    {
      name: 'src-has-known-layers',
      comment: 'A new folder below src/ needs its line in `layers`; nothing lies loose in src/.',
      severity: 'error',
      from: { path: '^src/', pathNot: [...Object.keys(layers), 'main'].map((layer) => `^src/${layer}/`) },
      to: {},
    },
    {
      name: 'core-is-alone',
      comment: 'model and core have no packages and no Node: they run anywhere, and always alike.',
      severity: 'error',
      from: { path: '^src/(model|core)/', pathNot: TEST },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'core-tests-need-little',
      severity: 'error',
      from: { path: `^src/(model|core)/.*${TEST}` },
      to: { path: '^node_modules/', pathNot: '^node_modules/(vitest|fast-check)/' },
    },
    {
      name: 'raw-io-in-its-place',
      comment: 'Files, sockets, processes, threads, clocks and randomness come through src/platform (Env).',
      severity: 'error',
      from: { path: '^src/', pathNot: [...RAW_IO, TEST] },
      to: { dependencyTypes: ['core'], pathNot: PURE_BUILTINS },
    },
    {
      name: 'stores-behind-their-interface',
      comment: 'Only src/main picks a store (and tests do); others know Reader and Writer.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/store/', '^src/main/', TEST] },
      to: { path: '^src/store/(memory|sqlite|postgres)/' },
    },
    {
      name: 'platform-behind-its-interface',
      comment:
        'Only src/main picks the real platform (and tests do); others know Env. The spawner is all libc, SQLite all files.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['^src/platform/node/', '^src/spawner/', '^src/store/sqlite/', '^src/main/', TEST],
      },
      to: { path: '^src/platform/node/' },
    },
    {
      name: 'nobody-imports-main',
      severity: 'error',
      from: { pathNot: '^src/main/' },
      to: { path: '^src/main/' },
    },
    {
      name: 'nobody-imports-sim',
      severity: 'error',
      from: { pathNot: '^sim/' },
      to: { path: '^sim/' },
    },
    {
      name: 'web-knows-the-protocol',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^(src|sim|test|bench|scripts)/', pathNot: '^src/protocol/' },
    },
    {
      name: 'product-without-tests',
      comment: 'Only tests import tests, helpers of tests (test/), scripts and benchmarks.',
      severity: 'error',
      from: { path: '^(src|web)/', pathNot: TEST },
      to: { path: [TEST, '^(test|scripts|bench)/'] },
    },
    {
      name: 'tests-are-not-imported',
      severity: 'error',
      from: {},
      to: { path: TEST },
    },
    {
      name: 'product-without-dev-packages',
      severity: 'error',
      from: { path: '^src/', pathNot: TEST },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A module that nobody imports is dead, unless it is an entry or a test.',
      severity: 'error',
      from: { orphan: true, path: '^(src|web)/', pathNot: ['^src/main/', '^web/main[.]', TEST, '[.]d[.]ts$'] },
      to: {},
    },
    {
      name: 'everything-resolves',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    detectProcessBuiltinModuleCalls: true,
    doNotFollow: { path: '^node_modules/' },
    exclude: { path: '/fixtures/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
    skipAnalysisNotInRules: true,
  },
};
