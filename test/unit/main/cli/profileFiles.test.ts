import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pathOf, type ProfileTree } from '@shared/profile/tree/profileTree'
import { metricValues } from '@shared/profile/tree/rollUp'
import { writeHatchet } from '@shared/profile/write/writeHatchet'
import { openProfileFile, openProfileFiles } from '../../../../src-main/cli/profileFiles'
import { runInProcess } from '../../../support/runInProcess'
import { agents, calls, copies, kernels, markers } from '../../../support/gpuToolFiles'

const h200 = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'
const folder = mkdtempSync(join(tmpdir(), 'profile-files-'))

describe('openProfileFile', () => {
  it('opens the profile of a folder without a run', async () => {
    writeFileSync(join(folder, 'profile.hatchet'), readFileSync(h200))
    expect(writeHatchet((await openProfileFile(folder)).tree)).toBe(readFileSync(h200, 'utf8'))
  })

  it('reads files larger than a chunk, with a byte order mark, whatever they are called', async () => {
    const levels = 200_000
    const node = '{"frame":{"name":"a node of a chain"},"metrics":{"time (ns)":1},"children":['
    const file = join(folder, 'large.txt')
    writeFileSync(file, `\uFEFF${node.repeat(levels)}${']}'.repeat(levels)}`)
    expect((await openProfileFile(file)).tree.count).toBe(levels)
  })

  it('says in one sentence what cannot be opened', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    writeFileSync(join(folder, 'zero.hatchet'), '')
    const opening = (name: string) => expect(openProfileFile(join(folder, name))).rejects
    await opening('none').toThrow(/none does not exist\.$/)
    await opening('empty').toThrow('is a folder without a run.json or profile.hatchet: name')
    await opening('zero.hatchet').toThrow('zero.hatchet is empty.')
  })

  it.each([
    ['half.hatchet', '[{"frame": oops', /line 1, byte \d+: .* It was read as hatchet JSON\.$/m],
    ['half.json', '{"benchmarks": [], "meta": {', /not valid JSON: .* read as nvbench's JSON\.$/m],
    [
      'half.db',
      `SQLite format 3\0${'x'.repeat(200)}`,
      /: .* It was read as an SQLite database of .*\.$/m
    ],
    ['x.png', '\x89PNG\r\n\x1a\n', /x\.png is not a profile that is read here: it looks like /]
  ])(
    'names on the command line what could not be read, by which reader and why: %s',
    async (name, content, said) => {
      const path = join(folder, name)
      writeFileSync(path, content, 'latin1')
      const { code, stderr } = await runInProcess(['view', path])
      expect(code).toBe(2)
      expect(stderr).toContain(name)
      expect(stderr).toMatch(said)
      expect(stderr.trim().split('\n')).toHaveLength(1)
    }
  )

  it('names the reader of several files too', async () => {
    const broken = `${kernels}"a quote that nothing closes`
    const paths = Object.entries({ kernels: broken, calls }).map(([name, text]) => {
      const path = join(folder, `6_${name}.csv`)
      writeFileSync(path, text)
      return path
    })
    await expect(openProfileFiles(paths)).rejects.toThrow(/It was read as rocprofv3's CSV\.$/)
  })

  it('of a large file shows on a terminal how many bytes of how many are read', async () => {
    const path = join(folder, 'large.trace.json')
    const events = [{ ph: 'X', cat: 'kernel', name: 'gemm', pid: 0, tid: 7, ts: 1, dur: 2 }]
    writeFileSync(path, JSON.stringify({ traceEvents: events }) + ' '.repeat(60 << 20))
    const before = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY')
    Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true })
    onTestFinished(() => {
      if (before) Object.defineProperty(process.stderr, 'isTTY', before)
      else delete (process.stderr as { isTTY?: boolean }).isTTY
      rmSync(path)
    })
    const { code, stderr } = await runInProcess(['view', path])
    expect(code).toBe(0)
    const shown = stderr.match(/Reading large\.trace\.json: [^\r\x1b]*/g)!
    expect(shown[1]).toBe('Reading large.trace.json: 8.00 MiB of 60.0 MiB')
    expect(shown.at(-1)).toBe('Reading large.trace.json: 60.0 MiB of 60.0 MiB')
  })
})

const paths = (tree: ProfileTree) =>
  Array.from({ length: tree.count }, (_, node) => pathOf(tree, node).slice(1).join(' > '))
const at = (tree: ProfileTree, path: string, metric: string) =>
  metricValues(tree, metric)[paths(tree).indexOf(path)]

describe('several files', () => {
  /** A trace of one rank: a kernel of 10 us, and communication of which 4 us lie beside it. */
  const trace = (distributedInfo: object | null, kernelUs = 10) => ({
    ...(distributedInfo && { distributedInfo }),
    deviceProperties: [
      { id: 0, name: 'NVIDIA H200', computeMajor: 9, computeMinor: 0, numSms: 132 }
    ],
    traceEvents: [
      {
        ph: 'X',
        cat: 'kernel',
        name: 'gemm',
        pid: 0,
        tid: 7,
        ts: 0,
        dur: kernelUs,
        args: { device: 0, stream: 7, grid: [1, 1, 1] }
      },
      { ph: 'X', cat: 'kernel', name: 'ncclDevKernel_AllReduce', pid: 0, tid: 20, ts: 6, dur: 9 },
      {
        ph: 'X',
        cat: 'gpu_memcpy',
        name: 'Memcpy HtoD',
        pid: 0,
        tid: 7,
        ts: 20,
        dur: 2,
        args: { bytes: 8 }
      }
    ]
  })
  const write = (name: string, value: unknown) => {
    const file = join(folder, name)
    writeFileSync(file, gzipSync(JSON.stringify(value)))
    return file
  }

  it('of one training become a scope per rank, in the order of ranks', async () => {
    const files = [10, 2, 0].map((rank) =>
      write(`worker${rank}.json.gz`, trace({ backend: 'nccl', rank, world_size: 16 }, 10 + rank))
    )
    const tree = await openProfileFiles(files)
    expect(paths(tree).filter((path) => /^rank \d+$/.test(path))).toEqual([
      ...['rank 0', 'rank 2', 'rank 10']
    ])
    expect(at(tree, 'rank 2 > gemm', 'time (ns)')).toBe(12_000)
    expect(metricValues(tree, 'time (ns)')[0]).toBe(10_000 + 12_000 + 20_000 + 3 * 11_000)
    expect(tree.warnings).toEqual([
      '3 of 16 ranks are given; ranks 1, 3 to 9, 11 to 15 are missing.'
    ])
    expect(tree.devices).toMatchObject([{ type: 'CUDA', arch: '90', multiprocessors: 132 }])
    // Busy, two at once, and what communication and copies did not hide, each rank for itself.
    expect(at(tree, 'rank 0', 'gpu busy (ns)')).toBe(17_000)
    expect(at(tree, 'rank 0', 'gpu overlap (ns)')).toBe(4_000)
    expect(at(tree, 'rank 0', 'exposed communication (ns)')).toBe(5_000)
    expect(at(tree, 'rank 0', 'exposed copies (ns)')).toBe(2_000)
    expect(metricValues(tree, 'gpu busy (ns)')[0]).toBe(17_000 + 17_000 + 22_000)
  })

  it('that do not say their rank are named by their files, which may', async () => {
    const named = [1, 0].map((rank) => write(`step_rank${rank}.json.gz`, trace(null)))
    const tree = await openProfileFiles(named)
    expect(paths(tree)).toContain('rank 1 > gemm')
    expect(tree.warnings).toEqual([
      'Ranks are taken from the names of the files, which do not say them inside.'
    ])
    const others = await openProfileFiles([write('a.json.gz', trace(null)), named[0]!])
    expect(paths(others)).toContain('a.json.gz > gemm')
    expect(paths(others)).toContain('step_rank1.json.gz > gemm')
  })

  it('that say the same rank keep their names too, and are said', async () => {
    const tree = await openProfileFiles([
      write('x.json.gz', trace({ rank: 0, world_size: 2 })),
      write('y.json.gz', trace({ rank: 0, world_size: 2 })),
      write('z.json.gz', trace(null))
    ])
    expect(paths(tree)).toEqual(
      expect.arrayContaining(['rank 0 (x.json.gz) > gemm', 'rank 0 (y.json.gz) > gemm'])
    )
    expect(tree.warnings).toEqual([
      'Several files are of rank 0: their names are given as well.',
      'Nothing in z.json.gz says which rank it is of: what it holds stands under the name of the file.',
      '1 of 2 ranks are given; rank 1 is missing.'
    ])
  })

  it("of rocprofv3's CSV are one profile", async () => {
    const parts = { agents, kernels, calls, markers, copies }
    const files = Object.entries(parts).map(([name, text]) => {
      const file = join(folder, `5_${name}.csv`)
      writeFileSync(file, text)
      return file
    })
    const tree = await openProfileFiles(files)
    expect(paths(tree)).toContain('step > hipLaunchKernel > gemm<float, "x">(float*)')
  })
})

describe('databases and reports of Nsight Systems', () => {
  const database = resolve('test/fixtures/databases/nsys-2025.sqlite')

  it('are read where their tables lie; changes not yet written to one are said', async () => {
    const copy = join(folder, 'report.sqlite')
    copyFileSync(database, copy)
    writeFileSync(`${copy}-wal`, 'changes')
    const { tree } = await openProfileFile(copy)
    expect(tree.format).toBe('nsys')
    expect(tree.warnings.join()).toContain('report.sqlite-wal holds changes')
  })

  it('.nsys-rep goes through nsys, which is said to be missing where it is', async () => {
    const report = join(folder, 'run.nsys-rep')
    writeFileSync(report, 'not documented')
    const path = process.env.PATH
    onTestFinished(() => void (process.env.PATH = path))
    process.env.PATH = folder
    await expect(openProfileFile(report)).rejects.toThrow(
      'run.nsys-rep is a report of Nsight Systems, and nsys, which exports it, is not on the path: run nsys export --type sqlite run.nsys-rep'
    )
    // As nsys is called: export --type sqlite --output FILE REPORT
    const nsys = join(folder, 'nsys')
    writeFileSync(
      nsys,
      `#!/bin/sh\n[ "$1 $2 $3 $4" = "export --type sqlite --output" ] && /bin/cp ${database} "$5"\n`
    )
    chmodSync(nsys, 0o755)
    expect((await openProfileFile(report)).tree.format).toBe('nsys')
    writeFileSync(nsys, '#!/bin/sh\necho "Importer error: no such event" >&2\nexit 1\n')
    await expect(openProfileFile(report)).rejects.toThrow(
      'nsys export cannot read run.nsys-rep: Importer error: no such event'
    )
  })
})
