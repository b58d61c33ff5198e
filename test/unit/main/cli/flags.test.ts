/** What a command line says is what is done, or it is refused: nothing is overridden, ignored or guessed. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, describe, expect, it } from 'vitest'
import { flagRules, pathOf } from '../../../../src-main/cli/flagRules'
import { createProgram } from '../../../../src-main/cli/program'
import { runInProcess } from '../../../support/runInProcess'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-flags-'))
afterAll(() => rmSync(folder, { recursive: true }))

const commandsOf = (command: Command): Command[] => [
  ...(command.parent ? [command] : []),
  ...command.commands.flatMap(commandsOf)
]
const commands = commandsOf(await createProgram())
/** Those that do something, and not only hold others. */
const doing = commands.filter(
  (command) => command.commands.length === 0 || pathOf(command) === 'formats'
)
const named = (path: string) => commands.find((command) => pathOf(command) === path)!
const optionOf = (command: Command, flag: string) =>
  command.options.find(({ long, short }) => long === flag || short === flag)

/** Words that give a flag a value it takes. */
function given(command: Command, flag: string): string[] {
  const option = optionOf(command, flag)!
  if (!option.required && !option.optional) return [flag]
  const value = option.argChoices?.[0] ?? (flag === '--mma' ? '2' : option.parseArg ? '64' : 'x')
  return [flag, value]
}
/** All that a command asks for, so that only the rule can refuse it. */
function needed(command: Command, except: string[]): string[] {
  const flags = command.options.filter(
    ({ mandatory, long, short }) => mandatory && !except.includes(long ?? short!)
  )
  const files = command.registeredArguments.filter(({ required }) => required).map(() => 'x')
  return [...files, ...flags.flatMap(({ long, short }) => given(command, long ?? short!))]
}

describe('the program', () => {
  const all = commands.filter(({ parent }) => !parent?.parent).map((command) => command.name())
  it.each(all)('loads for "%s" that command alone', async (name) => {
    const { commands: loaded } = await createProgram([name, '--json'])
    expect(loaded.map((command) => command.name())).toEqual([name])
  })

  it.each([[], ['--help'], ['vew'], ['toString']])(
    'loads every command for %j',
    async (...words) => {
      const { commands: loaded } = await createProgram(words)
      expect(loaded.map((command) => command.name())).toEqual(all)
    }
  )
})

describe('flags that do not go together', () => {
  const rows = flagRules.flatMap((rule) =>
    rule.commands.flatMap((path) =>
      rule.flags.flatMap((flag) =>
        (rule.excludes ?? ['']).map((other) => [path, flag, other, rule] as const)
      )
    )
  )
  it.each(rows)('%s: %s %s', async (path, flag, other, rule) => {
    const command = named(path)
    expect(optionOf(command, flag), flag).toBeDefined()
    if (other !== '') expect(optionOf(command, other), other).toBeDefined()
    const own = [flag, other].filter(Boolean)
    // What earlier rules of the flag ask for, so that this one refuses it.
    const earlier = flagRules
      .slice(0, flagRules.indexOf(rule))
      .filter((one) => one.commands.includes(path) && one.flags.includes(flag))
      .flatMap(({ needs = [] }) => needs.slice(0, 1))
    const words = [...own, ...earlier].flatMap((one) => given(command, one))
    const { code, stderr } = await runInProcess([
      ...path.split(' '),
      ...needed(command, own),
      ...words
    ])
    expect(stderr).toContain(rule.why)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(code).toBe(2)
  })
})

describe('every command', () => {
  it.each(doing.map((command) => [pathOf(command), command] as const))(
    '%s has --help and --json, and each of its flags says what it is for',
    async (path, command) => {
      const help = await runInProcess([...path.split(' '), '--help'])
      expect(help.code).toBe(0)
      expect(help.stdout).toContain(`Usage: blockscope ${path}`)
      expect(optionOf(command, '--json'), '--json').toBeDefined()
      for (const option of command.options) expect(option.description, option.flags).not.toBe('')
      // Of the others --out is the type of C.
      const isFile = !['validate', 'sweep', 'formats bytes', 'layout tma'].includes(path)
      if (isFile && optionOf(command, '--out'))
        expect(optionOf(command, '--force'), '--force').toBeDefined()
    }
  )

  const valued = doing.flatMap((command) =>
    command.options
      .filter((option) => (option.required || option.optional) && !option.variadic)
      .map((option) => [pathOf(command), option.long ?? option.short!] as const)
  )
  it.each(valued)('%s refuses %s twice, which would leave one of them out', async (path, flag) => {
    const command = named(path)
    const words = given(command, flag)
    const { code, stderr } = await runInProcess([
      ...path.split(' '),
      ...needed(command, [flag]),
      ...words,
      ...words
    ])
    expect(stderr).toContain('is given twice; give it once')
    expect(code).toBe(2)
  })
})

describe('other spellings', () => {
  it('of the Triton tutorial are those of validate and sweep alone', async () => {
    const sweep = await runInProcess(['sweep', '--format', 'nope', '--K_range', '512', '512'])
    expect(sweep.stderr).toContain('"nope" is no block-scaled format')
    const view = await runInProcess(['view', 'none.hatchet', '--format', 'full'])
    expect(view.stderr).toContain('none.hatchet does not exist')
    const words = ['layout', 'detect', '--packed', 'p', '--side', 'a', '--format', 'nvfp4']
    expect((await runInProcess(words)).stderr).toContain('also need -M, -N, -K, --a')
  })
})

const header = Buffer.from(
  JSON.stringify({ 'model.embed.weight': { dtype: 'F32', shape: [1, 1], data_offsets: [0, 4] } })
)
const length = Buffer.alloc(8)
length.writeBigUInt64LE(BigInt(header.length))
const checkpoint = join(folder, 'c.safetensors')
writeFileSync(checkpoint, Buffer.concat([length, header, Buffer.alloc(4)]))

describe('a name that is nearly known', () => {
  const known = join(folder, 'known.hatchet')
  const kernel = { frame: { name: 'k', type: 'function' }, metrics: { 'time (ns)': 5 } }
  writeFileSync(
    known,
    JSON.stringify([{ frame: { name: 'ROOT', type: 'function' }, metrics: {}, children: [kernel] }])
  )
  const scales = ['--rows', '1', '--cols', '1']

  it.each<[string[], string]>([
    [['formats', 'mxpf4'], 'mxfp4'],
    [['formats', 'e4m4'], 'e4m3'],
    [['formats', 'compare', '--formats', 'mxf8'], 'mxfp8'],
    [['formats', 'compare', '--rules', 'flor'], 'floor'],
    [['formats', 'compare', '--dist', 'nromal'], 'normal'],
    [
      ['formats', 'compare', '--file', checkpoint, '--tensor', 'model.embed.weigth'],
      'model.embed.weight'
    ],
    [['layout', 'map', '--layout', 'nvidia_32_4_5', ...scales], 'nvidia_32_4_4'],
    [['layout', 'code', '--layout', 'linear', '--language', 'pyton'], 'python'],
    [['layout', 'fragment', '--shape', 'm16n8k6', '--operand', 'A'], 'm16n8k'],
    [['view', known, '-m', 'tiem/ms'], 'time/ms'],
    [['validate', '--formats', 'nvfp'], 'nvfp4'],
    [['validate', '--kernels', 'cpu-portabel'], 'cpu-portable'],
    [['validate', '--providers', 'blokscope'], 'blockscope'],
    [['validate', '--dist', 'zeroes'], 'zeros'],
    [['vaildate'], 'validate']
  ])('%j is told the nearest', async (words, near) => {
    const { code, stderr } = await runInProcess(words)
    expect(stderr).toMatch(new RegExp(`Did you mean ${near}`))
    expect(code).toBe(2)
  })

  it('in another case is that name', async () => {
    expect((await runInProcess(['formats', 'MXFP4'])).stdout).toContain('mxfp4: MXFP4')
    const map = await runInProcess(['layout', 'map', '--layout', 'NVIDIA_32_4_4', ...scales])
    expect(map.stdout).toContain('nvidia_32_4_4: 1 x 1 scales')
    const code = ['layout', 'code', '--layout', 'linear', '--language', 'Python', '--json']
    expect(JSON.parse((await runInProcess(code)).stdout)).toMatchObject({ language: 'python' })
  })
})

describe('values out of range are refused at the flag, in words', () => {
  it.each([
    [['validate', '--seed', '99999999999999999999'], /--seed.*larger than 9007199254740991/],
    [['formats', 'compare', '--seed', '9007199254740993'], /--seed.*larger than/],
    [
      ['validate', '-K', '2000000'],
      /^blockscope: -K: a number of at most 1048576 is expected, not 2000000\.$/m
    ],
    [['sweep', '-K', '512,2000000'], /-K: a number of at most 1048576/],
    [
      ['sweep', '-K', '512', '--rounds', '21'],
      /--rounds: a number of at most 20 is expected, not 21/
    ],
    [
      ['sweep', '--K-range', '1', '100000000000', '--K-step', '1'],
      /is 100000000000 values of K; at most 10000 are swept at once/
    ],
    [['view', 'x', '--depth', '1e400'], /whole number above 0/],
    [['formats', 'compare', '-K', '1000000000'], /-K.*K is at most 1048576/],
    [
      ['layout', 'map', '--layout', 'linear', '--rows', '100000', '--cols', '100000'],
      /A map of 100000 x 100000 scales is too long; at most 16777216/
    ],
    [
      [
        'layout',
        'locate',
        '--layout',
        'linear',
        ...['--rows', '9007199254740991'],
        ...['--cols', '9007199254740991', '--row', '5', '--col', '5']
      ],
      /more than an offset can count/
    ],
    [
      ['runs', 'list', '--store', 'README.md'],
      /README\.md cannot be read: it, or a part of its path, is no folder/
    ],
    [['serve', '--token-file', '/tmp', '--no-open', '--port', '0'], /\/tmp is no file; name one/]
  ])('%j', async (words, message) => {
    const { code, stderr } = await runInProcess(words)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/Invalid|Expected/)
    expect(code).toBe(2)
  })

  it('zero is printed as 0', async () => {
    const { stdout } = await runInProcess(['formats', 'e4m3'])
    expect(stdout).toMatch(/^00: 0 /m)
    expect(stdout).not.toContain('e+0')
  })
})

describe('kernel folders', () => {
  const bad = join(folder, 'bad')
  it.each(['validate', 'sweep', 'devices', 'serve', 'runs resume x'])(
    '%s fails when one that it names does not load, and does nothing else',
    async (command) => {
      const { code, stderr, stdout } = await runInProcess([
        ...command.split(' '),
        ...['--kernel-dir', bad]
      ])
      expect(stderr).toContain(`--kernel-dir: ${bad} has no manifest.json.`)
      expect(stdout).toBe('')
      expect(code).toBe(2)
    }
  )
  it('a row that is refused fails it too', async () => {
    const manifest = { kernels: [{ id: 'mine', summary: 's', file: 'none.cu' }] }
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
    const { code, stderr } = await runInProcess(['devices', '--kernel-dir', folder])
    expect(stderr).toMatch(/kernel "mine" is left out/)
    expect(code).toBe(2)
  })
})

describe('files that are not there', () => {
  it.each([
    [['app', 'nosuch.hatchet'], /nosuch\.hatchet does not exist/],
    [['validate', '--report', '/nonexistent/x.html'], /there is no folder \/nonexistent/],
    [['validate', '--store', '/dev/null', '--formats', 'mxfp4'], /\/dev\/null is no folder/]
  ])('%j is said before anything is done', async (words, message) => {
    const { code, stderr, stdout } = await runInProcess(words)
    expect(stderr).toMatch(message)
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })
})

describe('a file that is there', () => {
  const there = (name: string) => {
    const path = join(folder, name)
    writeFileSync(path, 'mine')
    return path
  }
  const h200 = 'test/fixtures/runs/h200-8192/profile.hatchet'
  const writing: [string, string[]][] = [
    ['a.hatchet', ['convert', h200]],
    [
      'packed.bin',
      [
        'layout',
        'pack',
        '--layout',
        'linear',
        '--rows',
        '2',
        '--cols',
        '2',
        '--linear',
        'FOUR',
        '--out'
      ]
    ],
    [
      'linear.bin',
      [
        'layout',
        'unpack',
        '--layout',
        'linear',
        '--rows',
        '2',
        '--cols',
        '2',
        '--packed',
        'FOUR',
        '--out'
      ]
    ],
    [
      'codes.bin',
      [
        'layout',
        'elements',
        'convert',
        '--from',
        'fp4_low_first',
        '--to',
        'fp4_high_first',
        '--in',
        'FOUR',
        '--out'
      ]
    ],
    ['c.out.safetensors', ['checkpoint', 'convert', 'CHECKPOINT', '--out']],
    ['r.html', ['validate', '--formats', 'mxfp4', '--report']],
    ['run.csv', ['runs', 'export', 'ID', '--as', 'csv', '--store', 'STORE', '--output']]
  ]
  /** The words of one of them, with the files it reads. */
  async function wordsOf(words: string[]): Promise<string[]> {
    const four = join(folder, 'four')
    writeFileSync(four, Buffer.alloc(4))
    const store = join(folder, 'store')
    const imported = await runInProcess([
      ...['runs', 'import', 'test/fixtures/runs/h200-8192/run.json'],
      ...['--store', store, '--json']
    ])
    const { id } = JSON.parse(imported.stdout) as { id: string }
    const place: Record<string, string> = {
      FOUR: four,
      STORE: store,
      ID: id,
      CHECKPOINT: checkpoint
    }
    return words.map((word) => place[word] ?? word)
  }

  it.each(writing)('%s is not replaced unasked', async (name, words) => {
    const path = there(name)
    const { code, stderr } = await runInProcess([...(await wordsOf(words)), path])
    expect(stderr).toMatch(/exists; choose another name, or replace it with --force/)
    expect(code).toBe(2)
    expect(readFileSync(path, 'utf8')).toBe('mine')
  })

  // Whose output takes a while has its own way to be whole, and tests of its own.
  const atOnce = writing.filter(([, [name]]) => name !== 'checkpoint' && name !== 'validate')
  it.runIf(process.platform === 'linux').each(atOnce)(
    '%s on a full disk is one sentence and exit code 1',
    async (_name, words) => {
      const to = words[0] === 'convert' ? ['--to', 'hatchet'] : []
      const all = [...(await wordsOf(words)), '/dev/full', ...to]
      const { code, stderr } = await runInProcess(all)
      expect(stderr).toMatch(
        /^blockscope: The disk is full: \/dev\/full could not be written\..*\n$/
      )
      expect(code).toBe(1)
    }
  )
})
