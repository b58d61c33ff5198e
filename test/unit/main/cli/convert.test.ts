import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shortName } from '@shared/profile/ask/shortName'
import { openProfile } from '@shared/profile/read/openProfile'
import { pathOf } from '@shared/profile/tree/profileTree'
import { writeHatchet } from '@shared/profile/write/writeHatchet'
import { register } from '../../../../src-main/cli/convert'
import { runCommand } from './runCommand'

const h200 = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'
const folder = mkdtempSync(join(tmpdir(), 'convert-'))
const totalNs = [...readFileSync(h200, 'utf8').matchAll(/"time \(ns\)": (\d+)/g)].reduce(
  (sum, [, ns]) => sum + Number(ns),
  0
)

async function convert(name: string, ...flags: string[]): Promise<string> {
  await runCommand(register, ['convert', h200, join(folder, name), ...flags])
  return readFileSync(join(folder, name), 'utf8')
}

describe('convert', () => {
  it('.hatchet to .hatchet is the same file', async () => {
    expect(await convert('same.hatchet')).toBe(readFileSync(h200, 'utf8'))
  })

  it('several ranks to one trace, which opens with a scope and lanes for each', async () => {
    const ranks = [0, 1].map((rank) => {
      const file = join(folder, `worker-${rank}.json`)
      const kernel = { ph: 'X', cat: 'kernel', name: 'gemm', pid: 0, tid: 7, ts: 5, dur: 10 }
      const about = { distributedInfo: { rank, world_size: 2 }, baseTimeNanoseconds: rank * 20_000 }
      writeFileSync(file, JSON.stringify({ ...about, traceEvents: [kernel] }))
      return file
    })
    const out = join(folder, 'all.trace.json')
    await runCommand(register, ['convert', ...ranks, out])
    const { tree, timeline } = openProfile(readFileSync(out), 'all')
    expect(pathOf(tree, tree.count - 1)).toEqual(['ROOT', 'rank 1', 'gemm'])
    expect([...timeline!.startNs]).toEqual([0, 20_000])
    expect(timeline!.lanes.map(({ processLabel }) => processLabel)).toEqual(['rank 0', 'rank 1'])
    await expect(runCommand(register, ['convert', ranks[0]!])).rejects.toThrow(
      'convert needs what to read and the file to write: convert IN OUT.'
    )
  })

  it('.hatchet_msgpack opens as the same tree', async () => {
    const out = join(folder, 'p.hatchet_msgpack')
    await runCommand(register, ['convert', h200, out])
    const { tree } = openProfile(readFileSync(out), 'p')
    expect(tree.format).toBe('hatchet_msgpack')
    expect(writeHatchet(tree)).toBe(readFileSync(h200, 'utf8'))
  })

  it('names are short with --short, and never in .hatchet', async () => {
    const mangled = join(folder, 'mangled.folded')
    const name =
      'void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)'
    writeFileSync(mangled, `main;${name} 3\n`)
    const out = join(folder, 'short.folded')
    await runCommand(register, ['convert', mangled, out, '--short'])
    expect(readFileSync(out, 'utf8').trim()).toBe(`ROOT;main;${shortName(name)} 3`)
    await expect(
      runCommand(register, ['convert', mangled, join(folder, 's.hatchet'), '--short'])
    ).rejects.toThrow('--short leaves hatchet as it is')
  })

  it('folded stacks sum to the total', async () => {
    const lines = (await convert('p.folded')).trimEnd().split('\n')
    expect(lines[0]).toBe(
      'ROOT;K=1024;block_scaled_matmul_kernel_mxfp8 [M=8192, N=8192, K=1024] 12233119'
    )
    expect(lines.reduce((sum, line) => sum + Number(/ (\d+)$/.exec(line)![1]), 0)).toBe(totalNs)
  })

  it('CSV has own values and sums', async () => {
    const lines = (await convert('p.csv')).split('\r\n')
    const columns = lines[0]!.split(',')
    const root = lines[1]!.split(',')
    expect(root[columns.indexOf('time (ns) (inc)')]).toBe(String(totalNs))
    expect(lines[3]).toContain('"block_scaled_matmul_kernel_mxfp8 [M=8192, N=8192, K=1024]"')
  })

  it('JSON has every node', async () => {
    const { nodes } = JSON.parse(await convert('p.json')) as {
      nodes: { sums: object; parent: number | null }[]
    }
    expect(nodes[0]).toMatchObject({ parent: null, sums: { 'time (ns)': totalNs } })
    expect(nodes).toHaveLength(21)
  })

  it('speedscope events open and close like brackets, in order of time', async () => {
    const file = JSON.parse(await convert('p.speedscope.json')) as {
      shared: { frames: unknown[] }
      profiles: [
        { endValue: number; unit: string; events: { type: string; frame: number; at: number }[] }
      ]
    }
    const [{ events, endValue, unit }] = file.profiles
    expect([endValue, unit]).toEqual([totalNs, 'nanoseconds'])
    const stack: number[] = []
    let last = 0
    for (const { type, frame, at } of events) {
      expect(at).toBeGreaterThanOrEqual(last)
      last = at
      if (type === 'O') stack.push(frame)
      else expect(stack.pop()).toBe(frame)
    }
    expect(stack).toEqual([])
  })

  it('a Chrome trace lays the tree out within its total', async () => {
    const { traceEvents } = JSON.parse(await convert('p.trace.json')) as {
      traceEvents: { ph: string; name: string; ts: number; dur: number }[]
    }
    const root = traceEvents.find((event) => event.name === 'ROOT')!
    expect(root).toMatchObject({ ts: 0, dur: totalNs / 1000 })
    expect(traceEvents.filter((event) => event.ph === 'X')).toHaveLength(21)
  })

  it('a trace keeps its lanes', async () => {
    const trace = 'test/fixtures/proton/generated/v3.8.0/cpu_trace.chrome_trace'
    await runCommand(register, ['convert', trace, join(folder, 't.trace.json')])
    const { traceEvents } = JSON.parse(readFileSync(join(folder, 't.trace.json'), 'utf8')) as {
      traceEvents: { ph: string }[]
    }
    expect(traceEvents.filter((event) => event.ph === 'X')).toHaveLength(5)
  })

  it('names every sum on ROOT where asked, for proton-viewer', async () => {
    const modern = 'test/fixtures/proton/synthetic/modern_a.hatchet'
    await runCommand(register, ['convert', modern, join(folder, 'hints.hatchet'), '--root-hints'])
    const [root] = JSON.parse(readFileSync(join(folder, 'hints.hatchet'), 'utf8')) as [
      { metrics: object }
    ]
    expect(root.metrics).toEqual({ bytes: 0, count: 0, flops8: 0, 'time (ns)': 0 })
    // legacy_b is the same profile with the zeros that older versions wrote.
    const legacy = readFileSync('test/fixtures/proton/synthetic/legacy_b.hatchet', 'utf8')
    expect(JSON.parse(readFileSync(join(folder, 'hints.hatchet'), 'utf8'))).toEqual(
      JSON.parse(legacy)
    )
  })

  it('says what it wrote, as JSON where asked', async () => {
    const { stdout } = await runCommand(register, [
      'convert',
      h200,
      join(folder, 'x.csv'),
      '--json'
    ])
    expect(JSON.parse(stdout)).toMatchObject({ format: 'csv', nodes: 21 })
  })

  it('refuses a name that says no format, and leaves what was there when reading fails', async () => {
    await expect(convert('p.xyz')).rejects.toThrow('does not say which format to write: use --to')
    writeFileSync(join(folder, 'kept.csv'), 'kept')
    const broken = join(folder, 'broken.hatchet')
    writeFileSync(broken, '[{"frame"')
    await expect(
      runCommand(register, ['convert', broken, join(folder, 'kept.csv'), '--force'])
    ).rejects.toThrow('cut short')
    expect(readFileSync(join(folder, 'kept.csv'), 'utf8')).toBe('kept')
  })
})
