import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { UserError } from '@shared/errors'
import { ask } from '@shared/profile/ask/ask'
import { textOf } from '@shared/profile/read/jsonValue'
import { openProfile, ProfileReader } from '@shared/profile/read/openProfile'
import { childrenOf, nodeName, pathOf, type ProfileTree } from '@shared/profile/tree/profileTree'
import { metricValues } from '@shared/profile/tree/rollUp'
import { treeOfRun } from '@shared/profile/read/runTree'
import { chromeTracePieces } from '@shared/profile/write/writeChromeTrace'
import { traceOfRun } from '@shared/profile/write/runTrace'
import { randomSource } from '../../../fuzz/mutate'
import { writeHatchet } from '@shared/profile/write/writeHatchet'

const bytesOf = (value: unknown) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const open = (value: unknown) => openProfile(bytesOf(value), 't.json')
const paths = (tree: ProfileTree) =>
  Array.from({ length: tree.count }, (_, node) => pathOf(tree, node).slice(1).join(' > '))
const at = (tree: ProfileTree, path: string, metric: string) =>
  metricValues(tree, metric)[paths(tree).indexOf(path)]

const x = (cat: string, name: string, tid: number, ts: number, dur: number, args: object = {}) => ({
  ph: 'X',
  cat,
  name,
  pid: cat.startsWith('gpu') || cat === 'kernel' ? 0 : 42,
  tid,
  ts,
  dur,
  args
})

/** As PyTorch's profiler writes: operators, runtime calls, kernels, copies and annotations, launches by correlation. */
const pytorch = [
  { ph: 'M', name: 'process_name', pid: 42, tid: 0, args: { name: 'python' } },
  x('user_annotation', 'step', 1, 0, 100),
  x('cpu_op', 'aten::linear', 1, 5, 50, { 'External id': 7 }),
  x('cpu_op', 'aten::mm', 1, 10, 40, { 'External id': 8 }),
  x('cuda_runtime', 'cudaLaunchKernel', 1, 20, 5, { correlation: 100, 'External id': 8 }),
  x('cuda_runtime', 'cudaMemcpyAsync', 1, 60, 5, { correlation: 101 }),
  x('kernel', 'gemm', 7, 30, 60, {
    correlation: 100,
    'External id': 8,
    device: 0,
    grid: [8, 4, 1],
    block: [128, 1, 1],
    'registers per thread': 168
  }),
  x('gpu_memcpy', 'Memcpy HtoD', 7, 95, 40, { correlation: 101, bytes: 4096 }),
  x('gpu_memset', 'Memset', 7, 140, 2, { correlation: 999, 'External id': 7, bytes: 16 }),
  x('kernel', 'orphan', 7, 150, 3, { correlation: 555 }),
  x('gpu_user_annotation', 'step', 7, 30, 105),
  { ...x('Trace', 'PyTorch Profiler (0)', 3, 0, 200), pid: 'Spans', tid: 'PyTorch Profiler' },
  { ...x('overhead', 'Activity Buffer Request', 0, 1, 3), pid: -1 },
  { ph: 's', id: 100, cat: 'ac2g', pid: 42, tid: 1, ts: 20 },
  { ph: 'f', id: 100, cat: 'ac2g', pid: 0, tid: 7, ts: 30, bp: 'e' },
  { ph: 'i', name: 'Iteration', pid: 42, tid: 1, ts: 0 }
]
const launch = 'step > aten::linear > aten::mm > cudaLaunchKernel'

describe('events read from their bytes', () => {
  /** A "node" that nobody asks for sends an event to JSON.parse. */
  const throughJson = (events: readonly object[]) =>
    events.map((event) => ({
      ...event,
      args: { ...(event as { args?: object }).args, node: null }
    }))
  const found = ({ tree, timeline }: ReturnType<typeof open>) => {
    const { strings, name, category, lane, startNs, durationNs, node, facts, flows, lanes } =
      timeline!
    return {
      tree: writeHatchet(tree),
      events: Array.from(name, (id, at) => [
        strings.text(id),
        strings.text(category[at]!),
        lanes[lane[at]!],
        ...[startNs[at], durationNs[at], node[at], timeline!.correlation[at], timeline!.bytes[at]],
        strings.text(facts[at]!)
      ]),
      flows
    }
  }
  const unusual = [
    { ph: 'X', name: 'tab\t"quote" é', cat: 'cpu_op', pid: 'Spans', tid: -3, ts: 1e-3, dur: 12.5 },
    { ph: 'X', name: 'é', cat: 'kernel', pid: 0, tid: 7, ts: 4567890123.4567, dur: 1e3, args: {} },
    {
      ph: 'X',
      name: 'no category',
      pid: 0,
      tid: 7,
      ts: 5,
      dur: 0.001,
      args: { a: ['}', { b: '\\"' }] }
    },
    { ph: 'X', name: 'negative', pid: 0, tid: 7, ts: 5, dur: -1 },
    { name: 'x', dur: 3, ts: 12345678.901, tid: 1, pid: 42, cat: 'cpu_op', ph: 'X' }
  ]

  it('are what JSON.parse makes of them, wherever a chunk ends', () => {
    const events = [...pytorch, ...unusual]
    const plain = bytesOf({ traceEvents: events })
    const expected = found(open({ traceEvents: throughJson(events) }))
    expect(found(openProfile(plain, 't.json'))).toEqual(expected)
    for (const size of [1, 7, 64, 333]) {
      const reader = new ProfileReader('t.json')
      for (let from = 0; from < plain.length; from += size)
        reader.write(plain.subarray(from, from + size))
      expect(found(reader.finish()), String(size)).toEqual(expected)
    }
  })
})

describe("PyTorch's traces", () => {
  const { tree, timeline } = open({ schemaVersion: 1, traceEvents: pytorch })

  it('become operator, launch, kernel; GPU and CPU time stay apart', () => {
    expect(at(tree, `${launch} > gemm`, 'time (ns)')).toBe(60_000)
    expect(at(tree, 'step > cudaMemcpyAsync > Memcpy HtoD', 'bytes')).toBe(4096)
    expect(at(tree, 'step > aten::linear > Memset', 'time (ns)')).toBe(2000)
    expect(at(tree, '(launch not recorded) > orphan', 'count')).toBe(1)
    expect(metricValues(tree, 'time (ns)')[0]).toBe(105_000)
    expect(at(tree, 'step > aten::linear', 'cpu_time (ns)')).toBe(50_000)
  })

  it('keep what a launch says, its flow, and say what is not in the tree', () => {
    const node = paths(tree).indexOf(`${launch} > gemm`)
    const text = (name: string) => {
      const column = tree.texts.find((found) => found.name === name)!
      return tree.strings.text(column.values[node]!)
    }
    expect([text('grid'), text('block'), text('registers per thread')]).toEqual([
      '8 x 4 x 1',
      '128 x 1 x 1',
      '168'
    ])
    expect(timeline!.count).toBe(12)
    expect(timeline!.flows).toEqual([{ from: 3, to: 5 }])
    expect(tree.warnings.join('\n')).toMatch(/1 of 4 GPU events were not recorded/)
    expect(tree.warnings).toContain('2 spans of the profiler itself are in the timeline only.')
    expect(tree.warnings.join('\n')).toMatch(/1 trace event of phase 'i' were passed over/)
  })

  it('without anything on a GPU show the time of their calls', () => {
    const { tree } = open({ traceEvents: [x('cpu_op', 'aten::mm', 1, 10, 40)] })
    const { columns } = ask(tree)
    expect(columns.map(({ label }) => label)).toEqual(['cpu_time/us'])
    expect(at(tree, 'aten::mm', 'cpu_time (ns)')).toBe(40_000)
    expect(tree.warnings).toEqual([])
  })

  it('keep what a collective was: its name, group, type and elements', () => {
    const { tree } = open({
      traceEvents: [
        x('cuda_runtime', 'cudaLaunchKernelExC', 1, 5, 5, { correlation: 1 }),
        x('kernel', 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL', 20, 30, 60, {
          ...{ correlation: 1, device: 0, stream: 20, grid: [24, 1, 1], dtype: 'BFloat16' },
          ...{ 'Collective name': 'allreduce', 'In msg nelems': 4096, 'Out msg nelems': 4096 },
          ...{ 'Group size': 8, 'Process Group Name': '2' }
        })
      ]
    })
    const text = (name: string) => {
      const column = tree.texts.find((found) => found.name === name)!
      return tree.strings.text(column.values[tree.count - 1]!)
    }
    const names = ['collective', 'process group', 'group size', 'element type', 'elements in']
    expect(names.map(text)).toEqual(['allreduce', '2', '8', 'BFloat16', '4096'])
  })

  it('open with spellings of 2021, a header of any length, any order of keys, as a list, and gzipped', () => {
    const old = pytorch.map((event) => ({
      ...event,
      cat:
        { kernel: 'Kernel', cpu_op: 'Operator', cuda_runtime: 'Runtime', gpu_memcpy: 'Memcpy' }[
          String((event as { cat?: string }).cat)
        ] ?? (event as { cat?: string }).cat
    }))
    const header = { deviceProperties: Array.from({ length: 400 }, (_, id) => ({ id, name: 'x' })) }
    const same = (value: unknown) => expect(paths(open(value).tree)).toEqual(paths(tree))
    same({ traceEvents: old })
    same({ ...header, distributedInfo: { rank: 3 }, traceEvents: pytorch })
    same({ traceEvents: pytorch, ...header, displayTimeUnit: 'ms' })
    same(pytorch)
    const zipped = openProfile(gzipSync(bytesOf({ ...header, traceEvents: pytorch })), 't.json.gz')
    expect(paths(zipped.tree)).toEqual(paths(tree))
  })

  it('are the same however the bytes are cut', () => {
    const bytes = bytesOf({ displayTimeUnit: 'ns', 'quo"te\\': ['{', '\\"'], traceEvents: pytorch })
    for (const size of [1, 2, 3, 7, 61]) {
      const reader = new ProfileReader('t')
      for (let from = 0; from < bytes.length; from += size)
        reader.write(bytes.subarray(from, from + size))
      expect(paths(reader.finish().tree)).toEqual(paths(tree))
    }
  })
})

describe('any trace of PyTorch', () => {
  const spellings = {
    kernel: ['kernel', 'Kernel'],
    gpu_memcpy: ['gpu_memcpy', 'Memcpy'],
    gpu_memset: ['gpu_memset', 'Memset']
  }
  /** Calls nested at random on three threads, each of which may launch something on one of two GPUs. */
  const made = (seed: number) => {
    const random = randomSource(seed)
    const events: Record<string, unknown>[] = []
    let correlation = 0
    for (let thread = 0; thread < 3; thread++) {
      for (let call = 0; call < 60; call++) {
        const ts = call * 100 + random(5)
        events.push(x('cpu_op', `aten::op${random(4)}`, thread, ts, 90, { 'External id': call }))
        if (random(4) === 0) continue
        const id = ++correlation
        if (random(5) > 0)
          events.push(
            x('cuda_runtime', 'cudaLaunchKernel', thread, ts + 10, 5, { correlation: id })
          )
        const kind = (['kernel', 'kernel', 'gpu_memcpy', 'gpu_memset'] as const)[random(4)]!
        const cat = spellings[kind][random(2)]!
        const device = random(2)
        const args = {
          correlation: id,
          device,
          stream: 7,
          bytes: kind === 'kernel' ? undefined : 64
        }
        const name = kind === 'kernel' ? `kernel_${random(3)}` : kind
        events.push({
          ...x(cat, name, 7 + device, ts + 20, 1 + random(2000) / 1000, args),
          pid: device
        })
      }
    }
    return events.sort(() => random(3) - 1)
  }

  it.each([1, 2, 3, 4])('adds up to an independent sum, by name and in all: %i', (seed) => {
    const events = made(seed)
    const { tree } = open({ traceEvents: events })
    const isGpu = (cat: unknown) => Object.values(spellings).flat().includes(String(cat))
    const wanted = new Map<string, { ns: number; count: number }>()
    for (const { cat, name, dur } of events) {
      if (!isGpu(cat)) continue
      const before = wanted.get(name as string) ?? { ns: 0, count: 0 }
      const ns = before.ns + Math.round(Number(dur) * 1000)
      wanted.set(name as string, { ns, count: before.count + 1 })
    }
    const found = new Map<string, { ns: number; count: number }>()
    const [time, count] = ['time (ns)', 'count'].map((metric) =>
      tree.numbers.find(({ name }) => name === metric)
    )
    for (let node = 1; node < tree.count; node++) {
      if (!count!.written[node]) continue
      const before = found.get(nodeName(tree, node)) ?? { ns: 0, count: 0 }
      found.set(nodeName(tree, node), {
        ns: before.ns + time!.values[node]!,
        count: before.count + count!.values[node]!
      })
    }
    expect([...found].sort()).toEqual([...wanted].sort())
  })
})

describe("XLA's traces", () => {
  const { tree } = open({
    displayTimeUnit: 'ns',
    metadata: { 'highres-ticks': true },
    traceEvents: [
      { ph: 'M', pid: 1, name: 'process_name', args: { name: '/device:GPU:0' } },
      { ph: 'M', pid: 1, tid: 13, name: 'thread_name', args: { name: 'Stream #13(Compute)' } },
      { ph: 'M', pid: 1, tid: 2, name: 'thread_name', args: { name: 'XLA Ops' } },
      { ph: 'M', pid: 7, name: 'process_name', args: { name: '/host:CPU' } },
      { ph: 'M', pid: 7, tid: 9, name: 'thread_name', args: { name: 'python' } },
      { ph: 'X', pid: 1, tid: 13, ts: 10, dur: 5, name: 'loop_fusion' },
      { ph: 'X', pid: 1, tid: 2, ts: 10, dur: 5, name: 'fusion.1' },
      { ph: 'X', pid: 7, tid: 9, ts: 0, dur: 9, name: 'PjitFunction' },
      { ph: 'X', pid: 7, tid: 9, ts: 1, dur: 4, name: 'Execute' }
    ]
  })

  it('count nanoseconds of the streams, not cycles; the host has CPU time', () => {
    expect(tree.numbers.map(({ name }) => name)).not.toContain('cycles')
    expect(metricValues(tree, 'time (ns)')[0]).toBe(5000)
    expect(at(tree, '/host:CPU > python > PjitFunction > Execute', 'cpu_time (ns)')).toBe(4000)
    expect(paths(tree)).toContain('/device:GPU:0 > XLA Ops > fusion.1')
  })
})

describe('any other trace', () => {
  it('nests by time on its threads; begin and end pair; an unclosed list is taken', () => {
    const { tree } = open(
      '[{"ph":"B","name":"a","pid":1,"tid":1,"ts":0},{"ph":"X","name":"b","pid":1,"tid":1,"ts":1,"dur":2},{"ph":"E","pid":1,"tid":1,"ts":10},{"ph":"B","name":"open","pid":1,"tid":1,"ts":11},\n'
    )
    expect(at(tree, '1 > 1 > a', 'time (ns)')).toBe(10_000)
    expect(at(tree, '1 > 1 > a > b', 'time (ns)')).toBe(2000)
    expect(tree.warnings).toEqual(['1 events begin and never end: they were passed over.'])
  })
})

describe('our own traces open as what they were made from', () => {
  it('a tree of sums, scopes without time included', () => {
    const file = 'test/fixtures/proton/generated/v3.8.0/tree.hatchet'
    const { tree } = openProfile(readFileSync(file), file)
    const again = open([...chromeTracePieces(tree, null, (name) => name)].join(''))
    expect(writeHatchet(again.tree)).toBe(writeHatchet(tree))
    expect(again.timeline).toBeNull()
  })

  it('a timeline with its lanes, flows and nodes', () => {
    const first = open({ schemaVersion: 1, traceEvents: pytorch })
    const again = open([...chromeTracePieces(first.tree, first.timeline, (name) => name)].join(''))
    expect(writeHatchet(again.tree)).toBe(writeHatchet(first.tree))
    expect(again.timeline!.flows).toEqual(first.timeline!.flows)
    const nodes = ({ tree, timeline }: typeof first) =>
      [...timeline!.node].map((node) => nodeName(tree, node))
    expect(nodes(again)).toEqual(nodes(first))
    expect(again.timeline!.lanes.map(({ name }) => name)).toEqual(
      first.timeline!.lanes.map(({ name }) => name)
    )
  })

  it('a run', () => {
    const saved = 'test/fixtures/runs/h200-8192/run.json'
    const { run, tree } = openProfile(readFileSync(saved), 'run.json')
    const again = open(traceOfRun(run!, tree))
    expect(writeHatchet(again.tree)).toBe(writeHatchet(treeOfRun(run!)))
    const names = [...again.timeline!.node].map((node) => nodeName(again.tree, node))
    expect(names).toContain('wgmma mxfp4 [M=8192, N=8192, K=8192]')
    expect(childrenOf(again.tree, 0)).toHaveLength(1)
  })
})

describe('what is no profile is named', () => {
  it.each([
    ['NVR\0', "Nsight Compute's report (.ncu-rep); export it with ncu --import"],
    [{ name: 'left-pad', version: '1.0.0' }, 'a package.json'],
    [{ a: 1, b: [1, { frame: 2 }] }, 'JSON with "a", "b"'],
    [[{ a: 1 }], 'a list of JSON objects with "a"'],
    ['# comment', 'no JSON'],
    [{}, 'an empty JSON object']
  ])('%j', (value, looksLike) => {
    expect(() => open(value)).toThrow(UserError)
    expect(() => open(value)).toThrow(`it looks like ${looksLike}`)
  })

  it('where content says nothing, its name may', () => {
    expect(() => openProfile(bytesOf('who knows'), 'run.nsys-rep')).toThrow(
      "run.nsys-rep is not a profile that is read here: it looks like Nsight Systems' report (.nsys-rep); run nsys export --type sqlite FILE and open what that writes."
    )
  })

  it.each([
    ['{"traceEvents":[{"ph":"X"', 'byte 26: expected more, found the end of the file'],
    ['{"traceEvents":[{"ph":}]}', 'byte 17: the value that begins here is not valid JSON'],
    ['{"traceEvents":{}}', 'byte 16: expected a list as "traceEvents"'],
    ['{"traceEvents":[]} x', 'byte 20: expected nothing after the trace'],
    ['{"displayTimeUnit":"ns"}', 'expected a list "traceEvents", found none'],
    ['{"displayTimeUnit":"ns","a" 5}', "byte 29: expected ':' after a key"]
  ])('%s: says where and what', (text, sentence) => {
    expect(() => open(text)).toThrow(UserError)
    expect(() => open(text)).toThrow(sentence)
  })

  it('a form that is read whole says how large it may be', () => {
    const huge = { length: 2 ** 29 } as Uint8Array
    expect(() => textOf(huge, 'run.json')).toThrow(
      'run.json has 512 MiB, and this form is read whole: 512 MiB at most.'
    )
  })
})
