import pluginVue from 'eslint-plugin-vue'
import vueA11y from 'eslint-plugin-vuejs-accessibility'
import { readdirSync, readFileSync } from 'node:fs'
import tseslint from 'typescript-eslint'

/** What src-shared must not import, in any of its folders. */
const impure = [
  '**/src-main/**',
  '**/src-renderer/**',
  'node:*',
  'fs',
  'path',
  'vue',
  'pinia',
  'echarts*'
]

/** The rooms of a folder and what each may import, as its rooms.json says. */
function roomsOf(folder) {
  return JSON.parse(readFileSync(new URL(`./${folder}/rooms.json`, import.meta.url), 'utf8')).rooms
}

/** As paths that begin with the way up, so that a folder of the same name elsewhere is not meant. */
function forbiddenRooms(rooms, room) {
  return Object.keys(rooms)
    .filter((other) => other !== room && !rooms[room].includes(other))
    .flatMap((other) => [`../${other}/**`, `../../${other}/**`, `../../../${other}/**`])
}

const sharedRooms = roomsOf('src-shared')
const impureProfile = [...impure, ...forbiddenRooms(sharedRooms, 'profile')]

/** Folders of these names, wherever the import stands. */
const folders = (...names) => names.map((name) => `**/${name}/**`)

/**
 * Rule 1 of the house: dependencies point one way. Each row is a folder and what it must not import; a row for a folder
 * within another stands after it and repeats what that one forbids.
 */
const house = [
  {
    folder: 'src-shared',
    why: 'src-shared is pure TypeScript: no Node, no DOM, no Electron, nothing of src-main or src-renderer',
    forbid: impure
  },
  ...Object.entries(sharedRooms).map(([room, allowed]) => ({
    folder: `src-shared/${room}`,
    why: `src-shared/${room} imports only ${allowed.join(', ') || 'what lies beside the rooms'} (src-shared/rooms.json)`,
    // ECharts draws without a DOM where it is asked to: charts on both sides come from it.
    forbid: [
      ...impure.filter((name) => room !== 'charts' || name !== 'echarts*'),
      ...forbiddenRooms(sharedRooms, room)
    ]
  })),
  {
    folder: 'src-shared/profile/tree',
    why: 'the tree is the ground of a profile: it knows no reader, question or writer',
    forbid: [...impureProfile, '../read/*', '../ask/*', '../write/*']
  },
  {
    folder: 'src-shared/profile/read',
    why: 'readers make trees: they ask nothing and write nothing',
    forbid: [...impureProfile, '../ask/*', '../write/*']
  },
  {
    folder: 'src-shared/profile/ask',
    why: 'questions are about a tree, wherever it came from and however the answer is written',
    forbid: [...impureProfile, '../read/*', '../write/*']
  },
  {
    folder: 'src-shared/profile/write',
    why: 'writers know no reader',
    forbid: [...impureProfile, '../read/*']
  },
  {
    folder: 'src-renderer',
    why: 'the renderer imports src-shared and nothing of src-main: it can do only what the contract names',
    forbid: ['**/src-main/**', 'node:*', 'fs', 'path']
  },
  {
    folder: 'src-main/ground',
    why: 'the ground stands on src-shared alone',
    forbid: folders('engine', 'store', 'jobs', 'transports', 'desktop', 'server', 'cli')
  },
  {
    folder: 'src-main/engine',
    why: 'the engine knows no jobs, store, transport or shell',
    forbid: folders('jobs', 'store', 'transports', 'desktop', 'server', 'cli')
  },
  {
    folder: 'src-main/store',
    why: 'the store knows only src-shared and ground',
    forbid: folders('engine', 'jobs', 'transports', 'desktop', 'server', 'cli')
  },
  {
    folder: 'src-main/jobs',
    why: 'jobs call only engine and store',
    forbid: folders('transports', 'desktop', 'server', 'cli')
  },
  {
    folder: 'src-main/capture',
    why: 'captures know no shell',
    forbid: folders('jobs', 'transports', 'desktop', 'server', 'cli')
  },
  {
    folder: 'src-main/fleet',
    why: 'a fleet knows the store and no shell: who starts its tasks hands over what starts them',
    forbid: folders('engine', 'jobs', 'transports', 'desktop', 'server', 'cli')
  },
  {
    folder: 'src-main/transports',
    why: 'transports carry the contract and know no shell',
    forbid: folders('desktop', 'server', 'cli')
  },
  {
    folder: 'src-main/desktop',
    why: 'the shells do not know one another',
    forbid: folders('server', 'cli')
  },
  {
    folder: 'src-main/server',
    why: 'the shells do not know one another',
    forbid: folders('desktop', 'cli')
  },
  {
    folder: 'src-main/cli',
    why: 'the command line starts the server, but never the desktop: that is another program',
    forbid: folders('desktop')
  }
]

/** The rooms of the page and what each may import stand in src-renderer/rooms.json; no view imports another one. */
const page = new URL('./src-renderer/', import.meta.url)
const rooms = roomsOf('src-renderer')
const views = readdirSync(new URL('views/', page), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
const { forbid: outsidePage } = house.find(({ folder }) => folder === 'src-renderer')
house.push(
  ...Object.entries(rooms)
    .filter(([room]) => room !== 'views')
    .map(([room, allowed]) => ({
      folder: `src-renderer/${room}`,
      why: `src-renderer/${room} imports only ${allowed.join(', ') || 'src-shared'}`,
      forbid: [...outsidePage, ...forbiddenRooms(rooms, room)]
    })),
  ...views.map((view) => ({
    folder: `src-renderer/views/${view}`,
    why: 'a view imports what lies below it (src-renderer/rooms.json), neither the frame nor another view',
    forbid: [
      ...outsidePage,
      ...forbiddenRooms(rooms, 'views'),
      ...views.filter((other) => other !== view).map((other) => `../${other}/**`)
    ]
  }))
)

/** What the terminal shows and what is written to disk go one way each, so that no caller can forget the rules. */
const streams = ['stdout', 'stderr'].map((property) => ({
  object: 'process',
  property,
  message: 'Print through src-main/ground/terminal.ts: it escapes what a terminal would obey.'
}))
/** A clock that is set, or a machine that slept, has told a healthy engine for dead. */
const wallClock = {
  object: 'Date',
  property: 'now',
  message:
    'How long something took is told by performance.now(); how long another is silent by src-main/ground/patience.ts.'
}
const writers = {
  importNames: [
    'appendFile',
    'appendFileSync',
    'copyFile',
    'copyFileSync',
    'createWriteStream',
    'mkdir',
    'mkdirSync',
    'writeFile',
    'writeFileSync',
    'writeSync'
  ],
  message:
    'Write through src-main/ground/files.ts: whole or not at all, for the owner alone, and nothing replaced unasked.'
}
const opensToWrite = {
  selector: 'CallExpression[callee.name=/^open(Sync)?$/] > Literal[value=/^[wa]/]',
  message: writers.message
}
const saysWhyUnread = {
  selector: 'TemplateElement[value.raw=/cannot be (read|opened)[.:;]|does not exist[.;]/]',
  message: 'Why what a person named cannot be read is said by src-main/ground/named.ts.'
}
const fileSystems = ['node:fs', 'node:fs/promises'].map((name) => ({ name, ...writers }))

const electron = {
  name: 'electron',
  message: 'Only src-main/desktop imports electron.'
}

/** A number of ms behind a test's function, or as a `timeout` of anything a test waits for. */
const limits = [
  'CallExpression[callee.name=/^(it|test|(before|after)(All|Each))$/] > Literal.arguments[raw=/^[0-9]/]',
  'CallExpression[callee.callee.property.name=/^(each|skipIf|runIf)$/] > Literal.arguments[raw=/^[0-9]/]',
  "Property[key.name='timeout'] > Literal[raw=/^[0-9]/]"
].map((selector) => ({
  selector,
  message:
    'What is slow may take its time: test/support/patience.ts has the limits, for what hangs.'
}))

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
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', ignoreRestSiblings: true }
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-console': 'off',
      'vue/multi-word-component-names': 'off',
      'vuejs-accessibility/label-has-for': ['error', { required: { some: ['nesting', 'id'] } }]
    }
  },
  {
    files: ['src-main/ground/*.ts'],
    rules: { 'no-restricted-properties': ['error', wallClock] }
  },
  {
    files: ['src-main/**/*.ts'],
    ignores: ['src-main/ground/*.ts'],
    rules: {
      'no-console': 'error',
      'no-restricted-properties': ['error', ...streams, wallClock],
      'no-restricted-syntax': ['error', opensToWrite, saysWhyUnread]
    }
  },
  {
    files: ['src-renderer/**/*.{ts,vue}', 'src-shared/charts/**/*.ts'],
    ignores: ['src-renderer/format/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'CallExpression[callee.property.name=/^(toFixed|toPrecision|toExponential|toLocaleString)$/]',
          message:
            'Numbers are written by src-shared/units.ts, so that they look the same everywhere.'
        },
        {
          selector:
            "AssignmentExpression[left.property.name='value'] > AwaitExpression > CallExpression[callee.object.name='connection'][callee.property.name='call']",
          message:
            'An answer of what was may come last: useLatest (src-renderer/ground/latest.ts) takes none of what has changed since.'
        }
      ]
    }
  },
  {
    files: ['test/unit/**/*.ts', 'test/support/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...limits] }
  },
  {
    files: ['test/e2e/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...limits,
        {
          selector:
            "CallExpression[callee.name='expect'] > :not(FunctionExpression, ArrowFunctionExpression).arguments CallExpression[callee.property.name='url']",
          message: 'An address changes when the page comes to it: expect.poll(() => page.url()).'
        },
        {
          selector:
            "CallExpression[callee.name='expect'] > CallExpression[callee.property.name='url']",
          message: 'An address changes when the page comes to it: expect.poll(() => page.url()).'
        }
      ]
    }
  },
  {
    files: ['test/e2e/**/*.ts'],
    ignores: ['test/e2e/support/actions.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...Object.entries({
          waitForFunction: 'isTrue: the page refuses texts as code',
          boundingBox: 'steadyBox, or boxOf where nothing is aimed at'
        }).map(([property, instead]) => ({
          property,
          message: `Use ${instead} (test/e2e/support/actions.ts).`
        }))
      ]
    }
  },
  ...house.map(({ folder, why, forbid }) => ({
    files: [`${folder}/**/*.{ts,vue}`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            ...(folder === 'src-main/desktop' ? [] : [electron]),
            ...(folder.startsWith('src-main/') && folder !== 'src-main/ground' ? fileSystems : [])
          ],
          patterns: [{ group: forbid, message: `${why}.` }]
        }
      ]
    }
  }))
)
