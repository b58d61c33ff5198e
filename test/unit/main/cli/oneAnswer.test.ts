/**
 * Whatever door a run is asked at, it gives one answer. Saved runs and a fresh one are asked the same ten questions at
 * every door; what is right is taken from the steps themselves, without the tree.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import type { Run } from '@shared/contract/run'
import { groupsText } from '@shared/contract/groups'
import { demangle } from '@shared/profile/ask/demangle'
import { openProfile } from '@shared/profile/read/openProfile'
import { fromTransferable } from '@shared/profile/tree/transfer'
import { register as registerConvert } from '../../../../src-main/cli/convert'
import { register as registerDiff } from '../../../../src-main/cli/diff'
import { register as registerRuns } from '../../../../src-main/cli/runs'
import { register as registerTop } from '../../../../src-main/cli/top'
import { register as registerView } from '../../../../src-main/cli/view'
import { exportRun } from '../../../../src-main/jobs/exportRun'
import { importRun } from '../../../../src-main/store/importRun'
import { stringifyRun } from '../../../../src-main/store/runFile'
import { RunStore } from '../../../../src-main/store/runStore'
import type { ProfileQuery } from '../../../../src-renderer/workers/profileProtocol'
import { ProfileSession } from '../../../../src-renderer/workers/profileSession'
import { runBlockscope } from '../../../support/runBlockscope'
import { runCommand } from './runCommand'
import { agree, type Answers, expected, fromRows, metrics, type Row } from './tenQuestions'

const folder = mkdtempSync(join(tmpdir(), 'one-answer-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs kept in the repository, and one that is measured now. */
const saved = ['docs/results', 'test/fixtures/runs']
  .flatMap((place) => readdirSync(place).map((name) => join(place, name, 'run.json')))
  .filter((file) => existsSync(file))
const fresh = join(folder, 'fresh', 'run.json')
let printed = ''

beforeAll(async () => {
  const { code, stdout, stderr } = await runBlockscope(
    [
      ...['sweep', '--device', 'cpu', '--formats', 'mxfp4,mxfp8', '-M', '64', '-N', '64'],
      ...['-K', '128,256', '--reps', '5', '--rounds', '1', '--out-dir', join(folder, 'fresh')]
    ],
    { BLOCKSCOPE_STORE: join(folder, 'other-store') }
  )
  expect(existsSync(fresh), `exit ${code}: ${stderr}`).toBe(true)
  printed = stdout
})

const json = async (register: Parameters<typeof runCommand>[0], ...words: string[]) =>
  JSON.parse((await runCommand(register, [...words, '--json'])).stdout) as { rows: Row[] }

describe.each([...saved, fresh])('%s', (file) => {
  let run: Run
  let right: Required<Answers>
  let store: RunStore
  let hatchet: string
  const name = (ending: string) => join(folder, `${saved.indexOf(file)}.${ending}`)

  beforeAll(async () => {
    run = parseRun(readFileSync(file, 'utf8'), file)
    right = expected(run)
    store = new RunStore(join(folder, `store${saved.indexOf(file)}`))
    await importRun(store, 'run.json', new Uint8Array(readFileSync(file)))
    hatchet = name('hatchet')
    writeFileSync(hatchet, (await exportRun(await store.located(run.id), 'hatchet')).bytes)
  })

  it('view: run.json, the run folder, the exported profile and the stored one', async () => {
    const stored = join(store.folderOf(run.id), 'profile.hatchet')
    for (const path of [file, join(file, '..'), hatchet, store.folderOf(run.id), stored])
      agree(fromRows((await json(registerView, 'view', path, '-m', metrics)).rows), right)
  })

  it('the profile kept beside a saved run is the one that is made from it', async () => {
    const kept = join(file, '..', 'profile.hatchet')
    if (!existsSync(kept)) return
    const made = new TextDecoder().decode(
      (await exportRun(await store.located(run.id), 'hatchet')).bytes
    )
    expect(readFileSync(kept, 'utf8') === made, `${kept}: convert ${file} ${kept} renews it`).toBe(
      true
    )
  })

  it('a run of the store, by its id, by the beginning of it and as the latest', async () => {
    const before = process.env.BLOCKSCOPE_STORE
    process.env.BLOCKSCOPE_STORE = store.folder
    try {
      for (const words of [run.id, run.id.slice(0, -2), 'latest']) {
        const { rows } = await json(registerView, 'view', words, '-m', metrics)
        agree(fromRows(rows), right)
      }
      await expect(json(registerView, 'view', 'nosuchrun')).rejects.toThrow(
        'nosuchrun is no file here, and as a run:'
      )
    } finally {
      if (before === undefined) delete process.env.BLOCKSCOPE_STORE
      else process.env.BLOCKSCOPE_STORE = before
    }
  })

  it('view: flat, inverted and by group', async () => {
    for (const flags of [['--flat'], ['--inverted', '-d', '2'], ['--group', 'K=(\\d+)']]) {
      const { rows } = await json(registerView, 'view', file, '-m', metrics, ...flags)
      const { launches: _none, ...answers } = fromRows(rows)
      agree(answers, right, 11)
    }
  })

  it('top', async () => {
    const { rows } = await json(registerTop, 'top', file, '-n', '1000', '-m', metrics)
    agree(fromRows(rows), right)
    expect(rows[0]!.name).toBe(right.slowest)
  })

  it('convert: to a profile, a trace and JSON', async () => {
    for (const ending of ['converted.hatchet', 'trace.json']) {
      await runCommand(registerConvert, ['convert', file, name(ending)])
      const { rows } = await json(registerView, 'view', name(ending), '-m', metrics)
      agree(fromRows(rows), right)
    }
    await runCommand(registerConvert, ['convert', file, name('json')])
    const { nodes } = JSON.parse(readFileSync(name('json'), 'utf8')) as {
      nodes: { name: string; sums: Record<string, number> }[]
    }
    const operations = nodes.filter((node) => Object.hasOwn(right.us, node.name))
    const sums = (metric: string, factor: number) =>
      Object.fromEntries(operations.map((node) => [node.name, node.sums[metric]! * factor]))
    agree({ us: sums('time (ns)', 1e-3), sampledMs: sums('total sampled (ns)', 1e-6) }, right)
  })

  it('diff: a run with itself has these values and no change', async () => {
    const { rows } = (await json(
      registerDiff,
      'diff',
      file,
      hatchet,
      '-m',
      'time/us'
    )) as never as {
      rows: { name: string; values: number[]; change: number; ratio: number }[]
    }
    const operations = rows.filter((row) => Object.hasOwn(right.us, row.name))
    for (const side of [0, 1])
      agree(
        { us: Object.fromEntries(operations.map((row) => [row.name, row.values[side]!])) },
        right
      )
    expect(operations.every((row) => row.change === 0 && row.ratio === 1)).toBe(true)
  })

  it('the page: its worker, what it copies and the export of its timeline', () => {
    const session = new ProfileSession()
    const info = session.open({
      opened: openProfile(new Uint8Array(readFileSync(hatchet)), 'profile.hatchet'),
      files: ['profile.hatchet']
    })
    expect(info.suggested.slice(0, 2)).toEqual(['time/ms', 'time/%'])
    const query: ProfileQuery = {
      metrics: metrics.split(','),
      include: '',
      exclude: '',
      depth: 100,
      arrangement: 'tree',
      sort: 'chronological',
      hotPath: false,
      metadata: false,
      demangle: true,
      diff: false,
      search: '',
      openness: { all: true, toggled: [] }
    }
    const { tree: sent, columns, rows, notes } = session.show(query)
    const tree = fromTransferable(sent!)
    const shown = Array.from(rows, (node): Row => ({
      name: demangle(tree.strings.text(tree.name[node]!)),
      depth: tree.depth[node]!,
      metrics: Object.fromEntries(columns!.map(({ label, values }) => [label, values[node]!]))
    }))
    agree(fromRows(shown), right)
    expect(notes.join()).toContain('Times and rates are of one operation')
    const text = session.text('proton', { ...query, metrics: ['time/us'] })
    for (const [operation, us] of Object.entries(right.us))
      expect(text).toMatch(new RegExp(`^ *${us.toFixed(3)} .*${escaped(operation)}$`, 'm'))
  })

  it('exports and reports: CSV, nvbench, Markdown, HTML, the trace, a bundle that is imported again', async () => {
    const text = async (as: 'csv' | 'nvbench' | 'markdown' | 'html' | 'trace') =>
      new TextDecoder().decode((await exportRun(await store.located(run.id), as)).bytes)
    agree(fromCsv(await text('csv')), right)
    agree(fromNvbench(await text('nvbench')), right)
    const pages = [await text('markdown'), await text('html')]
    for (const step of run.steps.filter(({ measurement }) => measurement)) {
      const cell = (step.measurement!.timeNs.median / 1e3).toFixed(2)
      for (const page of pages) expect(page).toContain(cell)
    }
    writeFileSync(name('run.trace.json'), await text('trace'))
    const { rows } = await json(registerView, 'view', name('run.trace.json'), '-m', metrics)
    agree(fromRows(rows), right)
    const events = JSON.parse(await text('trace')) as {
      traceEvents: { name: string; dur: number }[]
    }
    const drawn = events.traceEvents.filter(({ name }) => Object.hasOwn(right.us, name))
    agree({ us: Object.fromEntries(drawn.map(({ name, dur }) => [name, dur])) }, right)

    const bundle = await exportRun(await store.located(run.id), 'folder')
    const second = new RunStore(join(folder, `again${saved.indexOf(file)}`))
    await importRun(second, bundle.name, bundle.bytes)
    const again = await json(registerView, 'view', second.folderOf(run.id), '-m', metrics)
    agree(fromRows(again.rows), right)
  })

  it('runs compare: with itself every point has the ratio that diff gives', async () => {
    const words = [
      ...['runs', 'compare', run.id, run.id, '--store', join(folder, `store${saved.indexOf(file)}`)]
    ]
    const { stdout } = await runCommand(registerRuns, [...words, '--json'])
    const points = JSON.parse(stdout) as { baselineNs: number; ratio: number }[]
    expect(points.map(({ baselineNs }) => baselineNs / 1e3)).toEqual(Object.values(right.us))
    expect(points.every(({ ratio }) => ratio === 1)).toBe(true)
    const text = (await runCommand(registerRuns, words)).stdout
    for (const { groups } of run.steps)
      if (groups) expect(text).toContain(`, ${groupsText(groups)}  `)
  })

  it('a run that was cut off: its folder and its export have the steps of its journal', async () => {
    const cut = join(folder, `cut${saved.indexOf(file)}`)
    mkdirSync(cut)
    const [first, ...rest] = run.steps
    const torn = { ...run, status: 'interrupted', steps: [first] }
    writeFileSync(join(cut, 'run.json'), stringifyRun(torn))
    const journal = rest.map((step) => stringifyRun(step))
    writeFileSync(join(cut, 'steps.jsonl'), [...journal, '{"torn'].join('\n'))
    for (const path of [cut, join(cut, 'run.json')]) {
      const { stdout, stderr } = await runCommand(registerView, [
        ...['view', path, '-m', metrics, '--json']
      ])
      agree(fromRows((JSON.parse(stdout) as { rows: Row[] }).rows), right)
      expect(stderr).toContain('is interrupted: the steps that it finished are here.')
    }
  })
})

it('the tree printed after a job has the same times and rates', () => {
  const right = expected(parseRun(readFileSync(fresh, 'utf8'), fresh))
  expect(Object.keys(right.us).length).toBeGreaterThan(3)
  for (const operation of Object.keys(right.us)) {
    const line = printed.split('\n').find((one) => one.endsWith(operation))
    const [tflops, ms] = line!.trim().split(/ +/).map(Number)
    expect(Math.abs(tflops! - right.tflops[operation]!)).toBeLessThanOrEqual(0.0005001)
    expect(Math.abs(ms! - right.us[operation]! / 1e3)).toBeLessThanOrEqual(0.0005001)
  }
})

const escaped = (text: string) => text.replace(/[[\]().*+?^${}|\\]/g, '\\$&')

/** As operationName has it; `groups` in words, '' where there are none. */
const named = ({ format, M, N, K, groups }: Record<string, string>, kernel: string) =>
  `${kernel} ${format} [M=${M}, N=${N}, K=${K}${groups ? `, ${groups}` : ''}]`

function fromCsv(text: string): Answers {
  const [head, ...lines] = text.trim().split('\n')
  // Reasons may hold commas within quotes.
  const cells = (line: string) => line.match(/("([^"]|"")*"|[^,]*)(,|$)/g)!.map(unquoted)
  const titles = cells(head!)
  const rows = lines
    .map((line) => Object.fromEntries(cells(line).map((cell, at) => [titles[at], cell])))
    .filter((row) => row['median_ns'] !== '')
  const of = (value: (row: Record<string, string>) => number) =>
    Object.fromEntries(
      rows.map((row) => [
        named({ ...row, M: row['m']!, N: row['n']!, K: row['k']! }, row['kernel']!),
        value(row as Record<string, string>)
      ])
    )
  return {
    us: of((row) => Number(row['median_ns']) / 1e3),
    tflops: of((row) => Number(row['tflops'])),
    gbytes: of((row) => Number(row['gbytes_per_second'])),
    samples: of((row) => Number(row['samples'])),
    sampledMs: of((row) => (Number(row['mean_ns']) * Number(row['samples'])) / 1e6)
  }
}

const unquoted = (cell: string) =>
  cell.replace(/,$/, '').replace(/^"([\s\S]*)"$/, (_, inner: string) => inner.replaceAll('""', '"'))

function fromNvbench(text: string): Answers {
  interface State {
    axis_values: { name: string; value: string }[]
    summaries: { tag: string; data: [{ value: string }] }[]
  }
  const { benchmarks } = JSON.parse(text) as { benchmarks: { name: string; states: State[] }[] }
  const points = benchmarks.flatMap(({ name, states }) =>
    states.map((state) => {
      const axes = Object.fromEntries(state.axis_values.map((one) => [one.name, one.value]))
      const value = (tag: string) =>
        Number(state.summaries.find((summary) => summary.tag === tag)!.data[0].value)
      return {
        operation: named({ ...axes, format: axes['Format']!, groups: axes['Groups'] ?? '' }, name),
        value
      }
    })
  )
  const of = (tag: string, factor = 1) =>
    Object.fromEntries(points.map(({ operation, value }) => [operation, value(tag) * factor]))
  return {
    us: of('nv/cold/time/gpu/median', 1e6),
    tflops: of('blockscope/tflops'),
    gbytes: of('blockscope/gbytes_per_second'),
    samples: of('nv/cold/sample_size')
  }
}
