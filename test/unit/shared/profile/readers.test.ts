import { readFileSync } from 'node:fs'
import { pack, Packr } from 'msgpackr'
import { describe, expect, it } from 'vitest'
import { UserError } from '@shared/errors'
import { deriveMetric } from '@shared/profile/ask/deriveMetric'
import { openProfile } from '@shared/profile/read/openProfile'
import { childrenOf, nodeName, pathOf } from '@shared/profile/tree/profileTree'
import { readHatchet } from '@shared/profile/read/readHatchet'
import { readHatchetMsgpack } from '@shared/profile/read/readHatchetMsgpack'
import { writeHatchet } from '@shared/profile/write/writeHatchet'
import { hatchetMsgpackPieces } from '@shared/profile/write/writeHatchetMsgpack'

const generated = 'test/fixtures/proton/generated/v3.8.0'
const bytesOf = (value: unknown) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const open = (value: unknown) => openProfile(bytesOf(value), 'p').tree

describe('.hatchet of every kind', () => {
  const leaf = { frame: { name: 'k', type: 'function' }, metrics: { 'time (ns)': 5 }, children: [] }

  it('takes [tree, devices], [tree] and a bare tree', () => {
    for (const value of [[leaf, {}], [leaf], leaf]) {
      expect(nodeName(open(value), 0)).toBe('k')
      expect(JSON.parse(writeHatchet(open(value)))).toEqual(Array.isArray(value) ? value : [value])
    }
  })

  it('takes several roots, no type, no children, no metrics and extra keys, and says what it passed over', () => {
    const tree = open([
      { frame: { name: 'a' }, metrics: { 'time (ns)': 1 } },
      { name: 'b', attributes: { file: ['x', { y: 1 }] }, children: [{ frame: { name: 'c' } }] }
    ])
    expect([0, 1, 2].map((node) => pathOf(tree, node).join('/'))).toEqual(['a', 'b', 'b/c'])
    expect(childrenOf(tree, -1)).toEqual([0, 1])
    expect(tree.warnings).toEqual(['Keys that are not Proton\'s were passed over: "attributes".'])
  })

  it('keeps siblings of one name apart', () => {
    const twice = open({ ...leaf, children: [leaf, leaf] })
    expect(childrenOf(twice, 0)).toHaveLength(2)
    expect(deriveMetric(twice, 'time/ns').values[0]).toBe(15)
  })

  it("reads the spelling of Proton 3.1 as today's", () => {
    const file = 'test/fixtures/proton/upstream/legacy-3.1/example_cuda.json'
    const { tree } = openProfile(readFileSync(file), file)
    expect(deriveMetric(tree, 'avg_time/us').values[1]).toBeCloseTo(20.48)
    expect(deriveMetric(tree, 'util').values[1]).toBeGreaterThan(0)
  })

  it('keeps integers that a double cannot hold', () => {
    const text = '{"frame":{"name":"k"},"metrics":{"cycles":18446744073709551615},"children":[]}'
    expect(writeHatchet(open(text))).toContain('18446744073709551615')
  })

  it('does not touch prototypes, whatever keys are called', () => {
    const text =
      '[{"frame":{"name":"__proto__"},"metrics":{"__proto__":1,"constructor":2},"__proto__":{"polluted":1}},{"__proto__":{"0":{"arch":"9","__proto__":{"polluted":1}}}}]'
    const tree = open(text)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    expect(deriveMetric(tree, '__proto__').values[0]).toBe(1)
  })

  it.each([
    [
      '[{"frame":{"name":"a"}',
      "p: line 1, byte 22: expected ',' or '}', found the end of the file (it is cut short)."
    ],
    ['[\n{"frame":{"name" "a"}}]', "p: line 2, byte 19: expected ':' after a key, found '\"'."],
    ['{"frame":{"name":"a"},"children":[1]}', "expected '{', found another kind of value."],
    ['{"frame":{"name":5}}', 'expected a string as frame name'],
    ['{"frame":{},"metrics":{}}', 'expected a "frame" with a "name" in this node'],
    ['[]', 'expected a tree, found none'],
    ['{"frame":{"name":"a"},"metrics":{"x":01}}', 'found a leading 0'],
    ['[{"frame":{"name":"a"}}] x', "expected nothing after the profile, found 'x'."],
    ['hello', 'p is not a profile'],
    ['', 'p is empty.']
  ])('%s: says where and what', (text, sentence) => {
    expect(() => open(text)).toThrow(UserError)
    expect(() => open(text)).toThrow(sentence)
  })

  it('reads, rolls up and writes 100,000 levels', () => {
    const levels = 100_000
    const text =
      '{"frame":{"name":"n"},"metrics":{"time (ns)":1},"children":['.repeat(levels) +
      ']}'.repeat(levels)
    const tree = open(text)
    expect(deriveMetric(tree, 'time/ns').values[0]).toBe(levels)
    expect(readHatchet(bytesOf(writeHatchet(tree)), 'again').count).toBe(levels)
  })
})

describe('.hatchet_msgpack', () => {
  it('gives what the JSON file of the same workload gives, less the empty leaf', () => {
    const packed = openProfile(readFileSync(`${generated}/tree_msgpack.hatchet_msgpack`), 'm').tree
    const text = writeHatchet(openProfile(readFileSync(`${generated}/tree.hatchet`), 'j').tree)
    const [root, devices] = JSON.parse(text) as [
      { children: { frame: { name: string } }[] },
      object
    ]
    root.children = root.children.filter((child) => child.frame.name !== 'empty')
    expect(JSON.parse(writeHatchet(packed))).toEqual([root, devices])
  })

  it('agrees with another implementation on a profile with devices', () => {
    const file = 'test/fixtures/proton/synthetic/example_spec.hatchet'
    const json = JSON.parse(readFileSync(file, 'utf8')) as unknown
    const packed = pack(json)
    const tree = readHatchetMsgpack(new Packr({ useRecords: false }).pack(json), 'p')
    expect(packed.length).toBeGreaterThan(100)
    expect(JSON.parse(writeHatchet(tree))).toEqual(json)
  })

  it('written again equals the one that Proton wrote, byte for byte', () => {
    const bytes = readFileSync(`${generated}/tree_msgpack.hatchet_msgpack`)
    const again = Buffer.concat([...hatchetMsgpackPieces(openProfile(bytes, 'm').tree)])
    expect(again.equals(bytes)).toBe(true)
  })

  it('of any numbers is what another implementation reads', () => {
    const metrics = {
      ...{ negative: -1, least: -(2 ** 31), more: -(2 ** 40), byte: 200, word: 60_000 },
      ...{ double: 2 ** 32 - 1, long: 2 ** 40, text: 'x'.repeat(300), fraction: 0.5 }
    }
    const tree = open(
      JSON.stringify([
        { frame: { name: 'ROOT' }, metrics: {}, children: [] },
        ...Array.from({ length: 20 }, () => ({ frame: { name: 'é' }, metrics, children: [] }))
      ])
    )
    const bytes = Buffer.concat([...hatchetMsgpackPieces(tree)])
    const read = new Packr({ useRecords: false, int64AsType: 'number' }).unpack(bytes) as {
      metrics: typeof metrics
    }[]
    expect(read).toHaveLength(21)
    expect(read[20]!.metrics).toEqual(metrics)
    expect(writeHatchet(openProfile(bytes, 'm').tree)).toBe(writeHatchet(tree))
  })

  it("is told from other bytes that begin alike: Python's pickles, MessagePack of something else", () => {
    const pickle = Buffer.from([0x80, 0x02, 0x7d, 0x71, 0x00, 0x2e])
    expect(() => openProfile(pickle, 'x.pickle')).toThrow('x.pickle is not a profile that is read')
    const other = pack({ version: 1, runs: [] })
    expect(() => openProfile(other, 'other')).toThrow('other is not a profile that is read here')
  })

  it('says where a file is cut short', () => {
    const bytes = readFileSync(`${generated}/tree_msgpack.hatchet_msgpack`).subarray(0, 100)
    expect(() => openProfile(bytes, 'm')).toThrow(
      /^m: byte \d+: expected \d+ more bytes, found the end/
    )
  })
})

describe('chrome traces', () => {
  it('a trace of CPU scopes becomes lanes and the tree that Proton writes for it', () => {
    const { tree, timeline } = openProfile(readFileSync(`${generated}/cpu_trace.chrome_trace`), 't')
    expect(timeline?.count).toBe(5)
    expect(deriveMetric(tree, 'flops16').values[0]).toBe(2.002e12)
    expect(deriveMetric(tree, 'vec_d').text?.(3)).toBe('[1, 2.5, 3]')
    expect(
      openProfile(readFileSync(`${generated}/no_scopes_trace.chrome_trace`), 'e').tree.count
    ).toBe(1)
  })

  it('a kernel trace has times, launches and flows', () => {
    const kernel = (ts: number, dur: number) => ({
      ph: 'X',
      cat: 'kernel',
      name: 'k',
      pid: 0,
      tid: 200007,
      ts,
      dur,
      args: { call_stack: ['ROOT', 'step', 'k'], metrics: { flops8: '1000000.000000' } }
    })
    const { tree, timeline } = openProfile(
      bytesOf({
        displayTimeUnit: 'us',
        baseTimeNanoseconds: 17,
        traceEvents: [
          { ph: 'M', name: 'thread_name', pid: 0, tid: 200007, args: { name: 'GPU Stream 7' } },
          {
            ph: 'X',
            cat: 'scope',
            name: 'step',
            pid: 0,
            tid: 1,
            ts: 0,
            dur: 1,
            args: { call_stack: ['ROOT', 'step'] }
          },
          { ph: 's', name: 'launch->kernel', id: 3, pid: 0, tid: 1, ts: 0 },
          { ph: 'f', name: 'launch->kernel', id: 3, pid: 0, tid: 200007, ts: 2, bp: 'e' },
          kernel(2, 1.5),
          kernel(5, 2.5)
        ]
      }),
      't'
    )
    expect(deriveMetric(tree, 'time/us').values[0]).toBe(4)
    expect(deriveMetric(tree, 'max_time/us').values[0]).toBe(2.5)
    expect(deriveMetric(tree, 'tflop8/s').values[0]).toBeCloseTo(0.5)
    expect(timeline).toMatchObject({ flows: [{ from: 0, to: 1 }], baseTimeNs: 17 })
    expect(timeline?.lanes.map((lane) => lane.name)).toContain('GPU Stream 7')
  })

  it('an intra-kernel trace becomes kernel and scopes with cycles', () => {
    const scope = (name: string, dur: number) => ({
      ph: 'X',
      cat: 'gemm',
      name,
      pid: 'gemm Core0 CTA0',
      tid: 'warp 0 (line 3)',
      ts: 0,
      dur,
      args: { 'Frequency (MHz)': 1000.0, call_stack: [] }
    })
    const { tree, timeline } = openProfile(
      bytesOf({ displayTimeUnit: 'ns', traceEvents: [scope('load', 1), scope('mma', 5)] }),
      't'
    )
    expect(pathOf(tree, 3)).toEqual(['ROOT', 'gemm', 'mma'])
    expect(deriveMetric(tree, 'cycles').values[0]).toBe(6000)
    expect(timeline?.lanes[0]).toMatchObject({
      name: 'warp 0 (line 3)',
      process: 'gemm Core0 CTA0'
    })
  })
})
