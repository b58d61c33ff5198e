import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { UserError } from '@shared/errors'
import { ask } from '@shared/profile/ask/ask'
import { BlockSource, ChunkSource } from '@shared/profile/read/byteSource'
import { openProfile, openProfileAt } from '@shared/profile/read/openProfile'
import { SqliteFile, type SqliteValue } from '@shared/profile/read/sqliteFile'
import { parseCreateTable } from '@shared/profile/read/sqliteSchema'
import { nodeName, pathOf, textColumn, type ProfileTree } from '@shared/profile/tree/profileTree'
import type { Timeline } from '@shared/profile/tree/timeline'
import { metricValues } from '@shared/profile/tree/rollUp'

const folder = 'test/fixtures/databases'
const bytesOf = (name: string) => readFileSync(`${folder}/${name}`)
const sourceOf = (bytes: Uint8Array) =>
  new BlockSource(bytes.length, (at, length) => bytes.subarray(at, at + length))
const open = (name: string) => openProfileAt(sourceOf(bytesOf(name)), name)!

interface Expected {
  kernels: Record<string, number>
  launches: Record<string, number>
  gpuNs: number
  callNs: number
  bytes: number
}
/** What SQL says of the same files: see make.py there. */
const expected = JSON.parse(readFileSync(`${folder}/expected.json`, 'utf8')) as Record<
  string,
  Expected & string
>

const paths = (tree: ProfileTree) =>
  Array.from({ length: tree.count }, (_, node) => pathOf(tree, node).slice(1).join(' > '))
const at = (tree: ProfileTree, path: string, metric: string) =>
  metricValues(tree, metric)[paths(tree).indexOf(path)]
const textAt = (tree: ProfileTree, path: string, name: string) => {
  const column = textColumn(tree, name)
  return column ? tree.strings.text(column.values[paths(tree).indexOf(path)]!) : ''
}

const lanesOf = (timeline: Timeline | null) =>
  timeline!.lanes.map(({ process, name }) => `${process}, ${name}`)

/** Sums of a metric over the nodes of each name, for the names asked for. */
function byName(tree: ProfileTree, metric: string, names: readonly string[]) {
  const column = tree.numbers.find(({ name }) => name === metric)!
  const sums = Object.fromEntries(names.map((name) => [name, 0]))
  for (let node = 0; node < tree.count; node++) {
    const name = nodeName(tree, node)
    if (name in sums) sums[name]! += column.values[node]!
  }
  return sums
}

describe('an SQLite file', () => {
  it.each(['pages-512.sqlite', 'pages-4096-utf16.sqlite'])(
    'gives every row as SQLite does: %s',
    (name) => {
      const file = new SqliteFile(sourceOf(bytesOf(name)), name)
      const rows: unknown[] = []
      file.each('odd "name', ['A', 'b c', 'KEY', 'd', 'e'], ([a, b, key, d, e]) => {
        const text = (value: SqliteValue | undefined) => (value === null ? null : String(value))
        rows.push([a, b, key, Buffer.from(d as Uint8Array).toString('hex'), text(e)])
      })
      const digest = createHash('sha256').update(JSON.stringify(rows)).digest('hex')
      expect(digest).toBe(expected[name])
      expect(file.isEmpty('none')).toBe(true)
      expect(file.isEmpty('ODD "NAME')).toBe(false)
      expect(file.hasColumn('none', 'b')).toBe(true)
      expect(() => file.each('w', ['a'], () => {})).toThrow('table w has no row ids')
      expect(() => file.each('nothing', ['a'], () => {})).toThrow(`${name} has no table nothing.`)
    }
  )

  it('reads the same from chunks of any size as from places of the file', () => {
    const bytes = bytesOf('pages-512.sqlite')
    for (const size of [100, 4097, 1 << 20]) {
      const source = new ChunkSource()
      for (let from = 0; from < bytes.length; from += size)
        source.add(bytes.subarray(from, from + size))
      expect(Buffer.compare(source.read(90, 5000), bytes.subarray(90, 5090))).toBe(0)
      let count = 0
      new SqliteFile(source, 'f').each('odd "name', ['key'], () => count++)
      expect(count).toBe(400)
    }
  })

  it('knows columns by their definitions: comments, quotes, checks, keys', () => {
    expect(
      parseCreateTable(
        "CREATE TABLE t (\"a,b\" TEXT, -- a (comment), with a comma\n `Id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, c TEXT CHECK (c IN ('x, y', ')')), /* , */ [d] INT, FOREIGN KEY (c) REFERENCES u (id))"
      )
    ).toEqual({ columns: ['a,b', 'id', 'c', 'd'], rowidColumn: 1, isWithoutRowid: false })
    const byConstraint = parseCreateTable('CREATE TABLE t (x INTEGER, y INT, PRIMARY KEY (x))')
    expect(byConstraint.rowidColumn).toBe(0)
    // SQLite: only the type INTEGER itself makes a key the row's id.
    expect(parseCreateTable('CREATE TABLE t (y INT PRIMARY KEY)').rowidColumn).toBe(-1)
  })

  it('that is cut short, or of another program, is refused in one sentence', () => {
    const bytes = bytesOf('nsys-2025.sqlite')
    const cut = (length: number) => () => openProfile(bytes.subarray(0, length), 'cut.sqlite')
    expect(cut(60)).toThrow('cut.sqlite: page 1 of the database: the header is damaged.')
    expect(cut(20_000)).toThrow(
      /^cut\.sqlite: page \d+ of the database is not there: it has 4 \(the file is cut short or damaged\)\. It was read as an SQLite database of Nsight Systems or rocprofv3\.$/
    )
    expect(() => openProfile(bytesOf('pages-512.sqlite'), 'other.db')).toThrow(
      'other.db is an SQLite database, of neither Nsight Systems nor rocprofv3: its tables are odd "name'
    )
    expect(cut(20_000)).toThrow(UserError)
  })
})

describe("Nsight Systems' export", () => {
  const files = ['nsys-2020.sqlite', 'nsys-2021.sqlite', 'nsys-2025.sqlite']

  it.each(files)('%s: sums by kernel, of GPU, of calls and of bytes are those of SQL', (name) => {
    const { tree } = open(name)
    const says = expected[name]!
    expect(byName(tree, 'time (ns)', Object.keys(says.kernels))).toEqual(says.kernels)
    expect(byName(tree, 'count', Object.keys(says.launches))).toEqual(says.launches)
    expect(metricValues(tree, 'time (ns)')[0]).toBe(says.gpuNs)
    expect(metricValues(tree, 'bytes')[0]).toBe(says.bytes)
    const calls = tree.numbers.find((column) => column.name === 'cpu_time (ns)')!
    const ofCalls = paths(tree).map((path, node) =>
      /> cuda\w+$/.test(path) ? calls.values[node]! : 0
    )
    expect(ofCalls.reduce((sum, ns) => sum + ns, 0)).toBe(says.callNs)
  })

  it('becomes range > call > kernel, with what the launch was', () => {
    const { tree, timeline } = open('nsys-2020.sqlite')
    const launch = 'step 0 > forward > cudaLaunchKernel'
    const kernel = `${launch} > vectorAdd(float*, int)`
    expect(at(tree, kernel, 'count')).toBe(14)
    expect(textAt(tree, kernel, 'grid')).toBe('varies')
    expect(textAt(tree, kernel, 'block')).toBe('128 x 1 x 1')
    expect(textAt(tree, kernel, 'registers per thread')).toBe('168')
    expect(textAt(tree, kernel, 'shared memory (bytes)')).toBe('66560')
    expect(textAt(tree, kernel, 'device_id')).toBe('0')
    expect(at(tree, 'step 0 > within > cudaMemcpyAsync > Memcpy HtoD', 'bytes')).toBeUndefined()
    const copy = 'step 0 > within > cudaMemcpyAsync > Memcpy HtoD (Pageable -> Device)'
    expect(at(tree, copy, 'bytes')).toBe(2 ** 33)
    expect(at(tree, '(launch not recorded) > Memset', 'time (ns)')).toBe(1000)
    expect(lanesOf(timeline)).toContain('GPU 0, Stream 7')
    expect(timeline!.flows).toHaveLength(41)
    expect(Math.min(...timeline!.startNs)).toBe(0)
  })

  it('keeps a range that crosses others apart, and says what it passes over', () => {
    const { tree, timeline } = open('nsys-2020.sqlite')
    expect(paths(tree)).toContain('crosses')
    expect(timeline!.lanes.map(({ name }) => name)).toContain('NVTX start/end ranges')
    const said = tree.warnings.join('\n')
    expect(said).toContain('1 NVTX marks, which take no time, were passed over.')
    expect(said).toContain('1 NVTX ranges that begin and never end were passed over.')
    expect(said).toContain('Tables of the export that were not read: OSRT_API.')
  })

  it('keeps the correlations of two programs apart, and names GPUs, threads and graphs', () => {
    const { tree, timeline } = open('nsys-2025.sqlite')
    for (const pid of [4242, 4243]) {
      const program = `python3 ${pid} > step 0`
      expect(at(tree, `${program} > forward > cudaLaunchKernel`, 'count')).toBe(40)
      expect(at(tree, `${program} > cudaGraphLaunch > CUDA graph 12`, 'time (ns)')).toBe(80_000)
      const inGraph = `${program} > cudaGraphLaunch > graph_kernel(float*)`
      expect(at(tree, inGraph, 'time (ns)')).toBe(15_000)
      expect(textAt(tree, inGraph, 'graph node')).toBe('varies')
    }
    // Both programs call theirs 0.
    for (const gpu of [2, 3])
      expect(lanesOf(timeline)).toContain(`GPU ${gpu} (NVIDIA H200), Stream 7`)
    expect(lanesOf(timeline)).toContain('python3 4242, main (4242)')
    expect(tree.devices).toMatchObject([
      { type: 'CUDA', id: '2', arch: '90', multiprocessors: 132 },
      { type: 'CUDA', id: '3' }
    ])
  })

  it('names ranges by their domain, whose stack is its own; keeps category and payload', () => {
    const { tree, timeline } = open('nsys-2025.sqlite')
    const program = 'python3 4242 > step 0'
    const reduce = `${program} > within > NCCL:ncclAllReduce`
    expect(paths(tree)).not.toContain(reduce)
    expect(textAt(tree, `${program} > NCCL:ncclAllReduce`, 'payload')).toBe(String(1 << 20))
    expect(textAt(tree, `${program} > NCCL:ncclBroadcast`, 'payload')).toBe('{"root": 0}')
    expect(textAt(tree, 'python3 4242 > NCCL:ncclGroupStart', 'category')).toBe('group')
    expect(textAt(tree, 'python3 4242 > NCCL:ncclGroupStart', 'domain')).toBe('NCCL')
    expect(textAt(tree, program, 'domain')).toBe('')
    expect(lanesOf(timeline)).toContain('python3 4242, NVTX NCCL ranges')
    // It crosses "forward", which keeps its calls.
    expect(at(tree, `${program} > forward > cudaLaunchKernel`, 'count')).toBe(40)
  })

  it('has sampled metrics of each GPU as counters in the time of the slices', () => {
    const { tree, timeline } = open('nsys-2025.sqlite')
    expect(
      timeline!.counters!.map(({ name, process, value }) => [process, name, [...value]])
    ).toEqual([
      ['GPU 2 (NVIDIA H200)', 'SMs Active (%)', [2, 12, 22, 32, 42]],
      ['GPU 2 (NVIDIA H200)', 'DRAM Read Bandwidth (%)', [3, 13, 23, 33, 43]],
      // A GPU that the report says nothing else of.
      ['GPU Metrics 9', 'SMs Active (%)', [9, 19, 29, 39, 49]]
    ])
    // The first slice begins 1 ms after the session.
    expect([...timeline!.counters![0]!.ns]).toEqual(
      [0, 1, 2, 3, 4].map((sample) => sample * 2_000_000 - 1_500_000)
    )
    const said = tree.warnings.join('\n')
    expect(said).toContain('1 samples of metrics without a name were passed over.')
    expect(said).not.toContain('GPU_METRICS')
    expect(open('nsys-2020.sqlite').timeline!.counters).toBeUndefined()
  })

  it('says when it was recorded, where the export does', () => {
    const { timeline } = open('nsys-2025.sqlite')
    expect(timeline!.baseTimeNs).toBe(1_700_000_000_000_000_000 + 1_000_000)
    expect(open('nsys-2020.sqlite').timeline!.baseTimeNs).toBeNull()
  })

  it('has rows of its own for what ran on a GPU alone, where kernels are put together', () => {
    const { tree } = open('nsys-2025.sqlite')
    const named = ask(tree, { metrics: ['time/us'], arrangement: 'flat' }).tree
    expect(new Set(paths(named).slice(1))).toEqual(
      new Set([
        ...Object.keys(expected['nsys-2025.sqlite']!.kernels),
        ...['CUDA graph 12', 'Memcpy HtoD (Pageable -> Device)', 'Memset (Device)']
      ])
    )
    expect(paths(tree)).not.toContain('GPU 2 (NVIDIA H200)')
  })

  it('opens as it streams in too, gzipped as well', () => {
    const bytes = bytesOf('nsys-2025.sqlite')
    const whole = paths(open('nsys-2025.sqlite').tree)
    expect(paths(openProfile(bytes, 'f').tree)).toEqual(whole)
    expect(paths(openProfile(gzipSync(bytes), 'f').tree)).toEqual(whole)
  })
})

describe("rocprofv3's database", () => {
  it.each(['rocpd-7.0.db', 'rocpd-main.db'])('%s: sums by kernel are those of SQL', (name) => {
    const { tree } = open(name)
    const says = expected[name]!
    expect(byName(tree, 'time (ns)', Object.keys(says.kernels))).toEqual(says.kernels)
    expect(byName(tree, 'count', Object.keys(says.launches))).toEqual(says.launches)
    expect(tree.warnings).toEqual(['Tables that were not read: sample.'])
    expect(tree.devices).toMatchObject([{ type: 'HIP', arch: 'gfx942', multiprocessors: 304 }])
  })

  it('becomes range > call > kernel; the grid is in workgroups', () => {
    const { tree, timeline } = open('rocpd-main.db')
    const kernel = 'step 0 > hipLaunchKernel > gemm(float*)'
    expect(at(tree, kernel, 'count')).toBe(10)
    expect(textAt(tree, kernel, 'grid')).toBe('304 x 4 x 1')
    expect(textAt(tree, kernel, 'block')).toBe('256 x 1 x 1')
    expect(textAt(tree, kernel, 'registers per thread')).toBe('128')
    expect(at(tree, kernel, 'SQ_WAVES')).toBe(3.5)
    expect(at(tree, 'step 0 > hipMemcpy > Memcpy HtoD', 'bytes')).toBe(2 ** 20)
    expect(lanesOf(timeline)).toContain('GPU 0 (AMD Instinct MI300X), Stream 0')
  })

  it.each(['rocpd-7.0.db', 'rocpd-main.db'])(
    '%s: has allocations below their calls, and how much each took and gave back',
    (name) => {
      const { tree } = open(name)
      const program = `${name === 'rocpd-7.0.db' ? 'python3 4711 > ' : ''}step 0 > `
      expect(at(tree, `${program}hipMalloc > Allocate`, 'allocated (bytes)')).toBe(4096)
      expect(at(tree, `${program}hipMalloc > Allocate`, 'cpu_time (ns)')).toBe(30_000)
      expect(at(tree, `${program}hipMalloc > Allocate virtual memory`, 'calls')).toBe(1)
      expect(at(tree, `${program}Free`, 'freed (bytes)')).toBe(4096)
      // Time of a GPU is that of kernels and copies.
      expect(at(tree, `${program}hipMalloc`, 'time (ns)')).toBeNaN()
    }
  )

  it('keeps processes of one file apart', () => {
    const { tree } = open('rocpd-7.0.db')
    for (const pid of [4711, 4712])
      expect(at(tree, `python3 ${pid} > step 0 > hipLaunchKernel`, 'count')).toBe(20)
  })
})
