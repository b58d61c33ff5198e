import pluginVue from 'eslint-plugin-vue'
import vueA11y from 'eslint-plugin-vuejs-accessibility'
import tseslint from 'typescript-eslint'

/** Rule 1 of the house: dependencies point one way. Each row is a folder and what it must not import. */
const house = [
  {
    folder: 'src-shared',
    why: 'src-shared is pure TypeScript: no Node, no DOM, no Electron, nothing of src-main or src-renderer',
    forbid: [
      '**/src-main/**',
      '**/src-renderer/**',
      'node:*',
      'fs',
      'path',
      'vue',
      'pinia',
      'echarts*'
    ]
  },
  {
    folder: 'src-renderer',
    why: 'the renderer imports src-shared and nothing of src-main: it can do only what the contract names',
    forbid: ['**/src-main/**', 'node:*', 'fs', 'path']
  },
  {
    folder: 'src-main/engine',
    why: 'the engine knows no jobs, store, transport or shell',
    forbid: [
      '**/jobs/**',
      '**/store/**',
      '**/transports/**',
      '**/desktop/**',
      '**/server/**',
      '**/cli/**'
    ]
  },
  {
    folder: 'src-main/store',
    why: 'the store knows only src-shared',
    forbid: [
      '**/engine/**',
      '**/jobs/**',
      '**/transports/**',
      '**/desktop/**',
      '**/server/**',
      '**/cli/**'
    ]
  },
  {
    folder: 'src-main/jobs',
    why: 'jobs call only engine and store',
    forbid: ['**/transports/**', '**/desktop/**', '**/server/**', '**/cli/**']
  },
  {
    folder: 'src-main/transports',
    why: 'transports carry the contract and know no shell',
    forbid: ['**/desktop/**', '**/server/**', '**/cli/**']
  },
  {
    folder: 'src-main/desktop',
    why: 'the shells do not know one another',
    forbid: ['**/server/**', '**/cli/**']
  },
  {
    folder: 'src-main/server',
    why: 'the shells do not know one another',
    forbid: ['**/desktop/**', '**/cli/**']
  },
  {
    folder: 'src-main/cli',
    why: 'the command line starts the server, but never the desktop: that is another program',
    forbid: ['**/desktop/**']
  }
]

const electron = {
  name: 'electron',
  message: 'Only src-main/desktop imports electron.'
}

export default tseslint.config(
  { ignores: ['out/', 'dist/', 'native/', 'resources/', 'test/fixtures/', 'docs/'] },
  ...tseslint.configs.recommended,
  ...pluginVue.configs['flat/essential'],
  ...vueA11y.configs['flat/recommended'],
  {
    files: ['**/*.vue'],
    languageOptions: { parserOptions: { parser: tseslint.parser } }
  },
  {
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-console': 'off',
      'vue/multi-word-component-names': 'off',
      'vuejs-accessibility/label-has-for': ['error', { required: { some: ['nesting', 'id'] } }]
    }
  },
  ...house.map(({ folder, why, forbid }) => ({
    files: [`${folder}/**/*.{ts,vue}`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: folder === 'src-main/desktop' ? [] : [electron],
          patterns: [{ group: forbid, message: `${why}.` }]
        }
      ]
    }
  }))
)
