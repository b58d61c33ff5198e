/** What the Python side knows by itself, held against what it stands for; no package is needed for it. */
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { packScales } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { loadTestAddon } from '../../support/addon'
import { python, pythonHas } from '../../support/python'

const providers = resolve('resources/providers')
const ask = (script: string, input = ''): unknown =>
  JSON.parse(
    execFileSync(python, ['-B', '-c', script], { input, encoding: 'utf8', cwd: providers })
  )

describe.skipIf(!pythonHas('json'))('resources/providers', () => {
  it("reads launches from a trace of PyTorch's profiler", () => {
    // As Kineto writes them (libkineto, output_json.cpp): times in microseconds.
    const kernel = (name: string, ts: number, dur: number) => ({
      ...{ ph: 'X', cat: 'kernel', name, pid: 0, tid: 7, ts, dur },
      args: {
        ...{ device: 0, context: 1, stream: 7, correlation: 12, grid: [64, 1, 1] },
        ...{ block: [256, 1, 1], 'registers per thread': 168, 'shared memory': 98304 },
        ...{ 'blocks per SM': 0.5, 'warps per SM': 4, 'est. achieved occupancy %': 12 }
      }
    })
    const traceEvents = [
      { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', ts: 1000, dur: 5, args: {} },
      kernel('epilogue', 2011.5, 0.5),
      kernel('block_scaled_matmul', 2000.25, 9.504),
      { ph: 'M', name: 'process_name', args: {} }
    ]
    const script = `import json, sys
from blockscope_host import launches
print(json.dumps(launches.launches_of(json.load(sys.stdin))))`
    const about = {
      ...{ stream: 7, grid: [64, 1, 1], block: [256, 1, 1] },
      ...{ registersPerThread: 168, sharedMemoryBytes: 98304 }
    }
    expect(ask(script, JSON.stringify({ traceEvents }))).toEqual([
      { name: 'block_scaled_matmul', startNs: 0, endNs: 9504, ...about },
      { name: 'epilogue', startNs: 11_250, endNs: 11_750, ...about }
    ])
  })

  it("has Triton's formats as the registry has them", () => {
    const script = `import ast, json
tree = ast.parse(open("triton/dotScaled.py").read())
(formats,) = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "FORMATS"]
print(json.dumps(ast.literal_eval(formats)))`
    for (const [id, facts] of Object.entries(ask(script) as object)) {
      const { a, b, scaleBlockSize } = findBlockFormat(id)
      expect([id, facts]).toEqual([id, [a.name, b.name, scaleBlockSize]])
    }
  })

  it('says which Triton compiles nothing for sm_110, and nothing of any other GPU', () => {
    const script = `import json, sys
sys.path.insert(0, "triton")
from dotScaled import lacks_target
print(json.dumps([lacks_target(major, version) for major in (9, 10, 11, 12) for version in ("3.6.0", "3.7.1", "3.10.0+git1")]))`
    const reason = 'Triton 3.6.0 cannot compile for sm_110; take 3.8.'
    const fine = Array<string>(3).fill('')
    expect(ask(script)).toEqual([...fine, ...fine, reason, '', '', ...fine])
  })

  it.skipIf(!pythonHas('numpy'))('rounds C as the addon does', () => {
    const addon = loadTestAddon()
    for (const type of ['e4m3', 'e5m2'] as const) {
      // Every value, the middles between neighbours, where ties go to even, and beyond the range.
      const finite = [...addon.decodeTable(type)].filter(Number.isFinite).sort((a, b) => a - b)
      const middles = finite.slice(1).map((value, at) => (value + finite[at]!) / 2)
      const values = Float32Array.from([...finite, ...middles, 1e9, -1e9, Infinity, -Infinity, NaN])
      const script = `import json, sys, numpy
from blockscope_host.devices import CpuDevice
device = CpuDevice({"cacheBytes": 0, "memoryBytes": 0})
values = numpy.frombuffer(bytes(json.load(sys.stdin)), dtype=numpy.float32)
print(json.dumps(device.rounded(values, "${type}").tolist()))`
      const rounded = ask(script, JSON.stringify([...new Uint8Array(values.buffer)]))
      const magnitude = (codes: number[]) => codes.map((code) => (code === 0x80 ? 0 : code))
      expect(magnitude(rounded as number[])).toEqual(
        magnitude([...addon.encode(type, values, 'saturate')])
      )
    }
  })

  it('samples by the rules of a measurement', () => {
    const script = `import json
from blockscope_host.sampling import sample, warm_up
class Device:
    batch = 8
    def __init__(self, times): self.given, self.count = times, 0
    def times(self, launch, count):
        taken = [self.given(self.count + i) for i in range(count)]
        self.count += count
        return taken
rules = {"warmupLaunches": 0, "warmupNs": 1000, "fixedSamples": 0, "minSamples": 20, "minTimeNs": 0,
         "maxRelativeStdev": 0.005, "maxSamples": 10000, "timeoutNs": 5e9}
steady, noisy = (lambda i: 500), (lambda i: 500 if i % 2 else 1000)
def ask(times, **change):
    samples, stop = sample(Device(times), None, {**rules, **change}, lambda event: None)
    return [len(samples), stop]
print(json.dumps({
    "steady": ask(steady), "noisy": ask(noisy)[1], "fixed": ask(noisy, fixedSamples=3),
    "limit": ask(noisy, maxSamples=40), "late": ask(noisy, minSamples=10**9, timeoutNs=0),
    "long": ask(steady, minTimeNs=50000)[0],
    "warm": warm_up(Device(steady), None, rules), "counted": warm_up(Device(steady), None, {**rules, "warmupLaunches": 2}),
}))`
    expect(ask(script)).toEqual({
      ...{ steady: [24, 'relative stdev'], noisy: 'noise stable', fixed: [3, 'fixed'] },
      ...{ limit: [40, 'sample limit'], late: [8, 'timed out'], long: 104 },
      ...{ warm: 4000, counted: 1000 }
    })
  })

  it('times short launches several at a time, as the engine does', () => {
    const script = `import json
from blockscope_host.sampling import Grouped, grouping_of, warm_up
class Device:
    batch = 8
    def times(self, queue, count): return [queue] * count
grouped = Grouped(Device(), 4)
rules = {"warmupLaunches": 5, "warmupNs": 1000, "minTimeNs": 200, "fixedSamples": 7}
shared = grouped.rules(rules)
print(json.dumps([
    [grouping_of(*asked) for asked in [(200e3, 1, False), (199e3, 1, False), (20e3, 1, False), (19e3, 1, False), (100, 1, False),
        (3e3, 1, True), (3e3, 512, True), (20e3, 4, False), (3e3, 181, False)]],
    grouped.times(500, 2), shared, warm_up(grouped, 500, shared)]))`
    expect(ask(script)).toEqual([
      [
        [1, 1],
        [8, 1],
        [10, 1],
        [11, 1],
        [512, 1],
        [1, 1],
        [67, 1],
        [12, 1],
        [90, 2]
      ],
      [125, 125],
      { warmupLaunches: 2, warmupNs: 250, minTimeNs: 50, fixedSamples: 7 },
      250
    ])
  })

  it('queues graphs in turn where a launch can be captured, and single launches where not', () => {
    const script = `import json
from blockscope_host.product import Product
class Device:
    has_graphs = True
    def __init__(self, ns, captures): self.ns, self.captures, self.queued = ns, captures, []
    def times(self, launch, count): return [launch() or self.ns for _ in range(count)]
    def graphs(self, launch, launches, samples):
        for _ in range(launches * samples): launch()
        return [lambda i=i: self.queued.append(i) for i in range(samples)] if self.captures else []
def ask(ns, captures, sets):
    product = Product.__new__(Product)
    product.device, product.flushes, product.instances, launched = Device(ns, captures), False, [None] * sets, []
    product.call = lambda work, *arguments: work(*arguments)
    product.launch = lambda: launched.append(1)
    queue, each = product.grouped()
    before = len(launched)
    for _ in range(3): queue()
    return [each, before, len(launched) - before, product.device.queued]
print(json.dumps([ask(20e3, True, 4), ask(3e3, True, 181), ask(20e3, False, 4), ask(300e3, True, 1)]))`
    expect(ask(script)).toEqual([
      [12, 13, 0, [0, 0, 0]],
      [90, 181, 0, [0, 1, 0]],
      [1, 13, 3, []],
      [1, 1, 3, []]
    ])
  })

  it('takes operand sets in turn, and flushes the cache where they would be too many or too large', () => {
    const script = `import json
from blockscope_host.product import cold_plan
mib = 1 << 20
print(json.dumps([cold_plan(size, cache, free) for size, cache, free in [
    (300 * mib, 60 * mib, 1 << 36), (60 * mib, 60 * mib, 1 << 36), (mib, 60 * mib, 1 << 36), (4096, 60 * mib, 1 << 36),
    (60 * mib, 60 * mib, 100 * mib), (mib, 0, 1 << 36)]]))`
    expect(ask(script)).toEqual([
      [1, false],
      [4, false],
      [181, false],
      [512, true],
      [1, true],
      [1, false]
    ])
  })

  it.skipIf(!pythonHas('numpy'))('writes twice the cache before each sample', () => {
    const script = `import json
from blockscope_host.devices import CpuDevice
device = CpuDevice({"cacheBytes": 1000, "memoryBytes": 10000})
seen = []
device.times(lambda: seen.append(None if device.flushed is None else int(device.flushed[1999])), 1)
device.flush_before_samples()
device.times(lambda: seen.append(int(device.flushed[1999])), 3)
print(json.dumps([seen, len(device.flushed)]))`
    expect(ask(script)).toEqual([[null, 1, 2, 3], 2000])
  })

  // Nobody has run these on the GPUs they are for: what they do to packed scales is held against the layouts here.
  it.skipIf(!pythonHas('numpy')).each([
    ['descriptorKernel', 'nvidia_32_4_4', [256, 16], ''],
    ['cdna4Kernel', 'cdna4_mfma32', [64, 16], ', 32'],
    ['cdna4Kernel', 'cdna4_mfma16', [64, 16], ', 16']
  ] as const)('%s unpacks a tile of %s', (file, name, [rows, columns], more) => {
    const linear = Uint8Array.from({ length: rows * columns }, (_, i) => (i * 7919) % 251)
    const packed = packScales(findLayout(name), { rows, columns }, linear)
    const script = `import ast, json, sys, numpy
class Tile(numpy.ndarray):
    def trans(self, *axes): return self.transpose(axes)
    permute = trans
    def load(self, at): return self
tree = ast.parse(open("triton/${file}.py").read())
(function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "scale_tile"]
function.decorator_list = []
for argument in function.args.args: argument.annotation = None
names = {}
exec(compile(ast.Module([function], []), "scale_tile", "exec"), names)
packed = numpy.array(json.load(sys.stdin), dtype=numpy.uint8).view(Tile)
places = ${file === 'descriptorKernel' ? '(0, 0)' : '()'}
print(json.dumps(names["scale_tile"](packed, *places, ${rows}, ${columns}${more}).reshape(-1).tolist()))`
    expect(ask(script, JSON.stringify([...packed]))).toEqual([...linear])
  })

  it('the check of its kernels says aloud that it compiles none without triton', () => {
    // With one it takes a minute, and is npm run providers:check.
    if (pythonHas('triton')) return
    const script = resolve('scripts/providersCheck/compile.py')
    const said = execFileSync(python, ['-B', script], { encoding: 'utf8' })
    expect(said).toBe('Skipped: this Python has no triton, so no kernel was compiled.\n')
  })
})
