/** A gate over an engine whose times are given: what becomes of a kernel that is slower, wrong, or fails. */
import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import { detectionSchema, type Detection } from '@shared/contract/devices'
import { sweepSpecSchema } from '@shared/contract/jobs'
import { UserError } from '@shared/errors'
import { methodName } from '@shared/measurement/presets'
import { gateToDashboard, gateToJunit, gateToMarkdown } from '@shared/report/gate'
import { EngineError, type Engine } from '../../../../src-main/engine/engine'
import { runGate, type GateRequest, type GateWork } from '../../../../src-main/jobs/gate/runGate'
import {
  stateNow,
  stateOfBaseline,
  type RecordedSide,
  type Side
} from '../../../../src-main/jobs/gate/sides'
import { planJob } from '../../../../src-main/jobs/plan'
import { MachineMemory } from '../../../../src-main/store/machineMemory'

const kernel = (id: string) => ({
  ...{ id, provider: 'user', summary: '', scaleLayout: 'linear', baseline: false },
  ...{ sourceHash: `hash of ${id}`, compileOptions: '' },
  capabilities: ['mxfp4', 'mxfp8'].map((format) => ({ format, level: 'exact', reason: '' }))
})
const ids = ['a@base', 'b@base', 'a@new', 'c@new']
const detection: Detection = v.parse(detectionSchema, {
  devices: [
    {
      ...{ id: 'cuda:0', kind: 'cuda', name: 'A GPU', architecture: 'sm_90' },
      properties: { maxClockMHz: 1980, powerLimitW: 700, smCount: 132 },
      kernels: ids.map(kernel)
    }
  ],
  libraries: [{ name: 'NVML', found: true, version: '580.1', path: '', reason: '', remedy: '' }],
  warnings: []
})
const side = (name: string, suffix: string): Side => ({
  ...{ kind: 'timed', name },
  kernels: new Map(
    ids.filter((id) => id.endsWith(suffix)).map((id) => [id.slice(0, -suffix.length), id])
  )
})
const [base, tested] = [side('old', '@base'), side('new', '@new')]

const request: GateRequest = {
  spec: v.parse(sweepSpecSchema, {
    ...{ kind: 'sweep', formats: ['mxfp4'], mValues: [64], nValues: [64], kValues: [64, 128] }
  }),
  ...{ visits: 12, samples: 3, confidence: 0.95, margin: 0.01, asked: {} },
  narrow: { formats: true, m: true, n: true, k: true }
}

interface Given {
  /** Nanoseconds of a kernel, by what number of call it is. */
  time?: (kernel: string, call: number) => number
  status?: (kernel: string) => 'passed' | 'incorrect'
}

function workWith({ time = () => 1000, status = () => 'passed' }: Given, abort?: AbortController) {
  const calls: string[] = []
  const measure = (name: string) => {
    calls.push(name)
    const ns = time(name, calls.length)
    const samplesNs = Float64Array.of(ns, ns * 1.001, ns * 1.002)
    return { samplesNs, samplesMHz: Float64Array.of(1900), badges: [] }
  }
  const validate = (name: string) => ({
    ...{ status: status(name), reason: status(name) === 'passed' ? '' : '7 of 4096 are outside' },
    ...{ nonFinite: 0, launchNs: [], errorMap: [], failures: [], oracleSeconds: 0 },
    ...{ perturbationA: { state: 'passed' }, perturbationB: { state: 'passed' } }
  })
  const call = (method: string, input: { request: { kernel: string } } | null) => {
    if (abort?.signal.aborted) throw new EngineError('cancelled', 'Cancelled.')
    if (method === 'validate') return Promise.resolve(validate(input!.request.kernel))
    return Promise.resolve(method === 'measure' ? measure(input!.request.kernel) : 1)
  }
  const memory = new MachineMemory('/nowhere/machine.json')
  const work: GateWork = {
    engine: { call, endedCount: 0, close() {} } as unknown as Engine,
    ...{ detection, device: detection.devices[0]!, appVersion: '0.1.0' },
    plan: (spec) => planJob(spec, detection, memory),
    signal: (abort ?? new AbortController()).signal,
    onNotice: () => {},
    onProgress: () => {}
  }
  return { work, calls }
}

describe('a gate of two folders', () => {
  it('times what both have, alternately and in random order, and names what one lacks', async () => {
    const { work, calls } = workWith({ time: (_, call) => 1000 + (call % 3) })
    const gate = await runGate(base, tested, request, work)
    expect(gate.points.map(({ k, verdict }) => [k, verdict])).toEqual([
      [64, 'same'],
      [128, 'same']
    ])
    expect(gate).toMatchObject({ passed: true, sentence: '2 of 2 passed: 2 same' })
    expect(gate.notes).toEqual([
      'old lacks c mxfp4 64 64 64, c mxfp4 64 64 128.',
      'new lacks b mxfp4 64 64 64, b mxfp4 64 64 128.'
    ])
    expect(gate.points[0]!.new.samplesNs).toHaveLength(12)
    // The visit before the first, then pairs: both orders occur, and each pair has both.
    const pairs = Array.from({ length: 13 }, (_, i) => calls.slice(2 * i, 2 * i + 2).join(' '))
    expect(new Set(pairs)).toEqual(new Set(['a@base a@new', 'a@new a@base']))
    expect(gate.points[0]!.estimate.confidence).toBeCloseTo(0.975, 12)
  })

  it('finds 3 % of drifting times, and its reports say so', async () => {
    const time = (name: string, call: number) => (1000 + call) * (name === 'a@new' ? 1.03 : 1)
    const { work } = workWith({ time })
    const gate = await runGate(base, tested, request, work)
    expect(gate.points.map(({ verdict }) => verdict)).toEqual(['slower', 'slower'])
    expect(gate.passed).toBe(false)
    expect(gateToJunit(gate)).toMatch(/failures="2"[^]*message="SLOWER: time \+[23]\.\d %/)
    expect(gateToMarkdown(gate)).toMatch(/^\*\*Not passed: 0 of 2 passed: 2 slower\.\*\*\n/)
    const records = JSON.parse(gateToDashboard(gate)) as Record<string, Record<string, unknown>>[]
    expect(records).toHaveLength(2)
    expect(records[0]).toMatchObject({
      benchmark: { dtype: 'mxfp4', mode: 'cold' },
      model: { name: '64x64x64', backend: 'a' },
      metric: { name: 'time (us)', extra_info: { verdict: 'slower' } }
    })
    expect(records[0]!.metric!.benchmark_values).toHaveLength(12)
  })

  it('passes no kernel whose product is wrong, however fast', async () => {
    const status = (name: string) => (name === 'a@new' ? 'incorrect' : 'passed')
    const { work, calls } = workWith({ status, time: (name) => (name === 'a@new' ? 1 : 1000) })
    const gate = await runGate(base, tested, request, work)
    expect(gate.points[0]).toMatchObject({
      verdict: 'failed',
      reason: 'a@new did not pass: 7 of 4096 are outside'
    })
    expect([gate.passed, calls]).toEqual([false, []])
  })

  it('passes no kernel that fails when it is timed', async () => {
    const time = (name: string) => {
      if (name === 'a@new') throw new EngineError('device', 'It wrote out of bounds.')
      return 1000
    }
    const gate = await runGate(base, tested, request, workWith({ time }).work)
    expect(gate.points[0]).toMatchObject({
      verdict: 'failed',
      reason: 'a@new failed: It wrote out of bounds.'
    })
    expect(gate.passed).toBe(false)
  })

  it('does not pass what was cancelled', async () => {
    const abort = new AbortController()
    const time = (_: string, call: number) => {
      if (call === 20) abort.abort()
      return 1000
    }
    const gate = await runGate(base, tested, request, workWith({ time }, abort).work)
    expect(gate.points[0]).toMatchObject({
      verdict: 'insufficient',
      reason: 'cancelled after 9 of 12 visits.'
    })
    expect(gate.passed).toBe(false)
  })

  it('does not pass with nothing in common', async () => {
    const other: Side = { kind: 'timed', name: 'other', kernels: new Map([['c', 'c@new']]) }
    const gate = await runGate(base, other, request, workWith({}).work)
    expect(gate).toMatchObject({ passed: false, sentence: 'nothing was compared', points: [] })
    expect(gateToJunit(gate)).toMatch(/<testsuites [^>]*failures="1"/)
  })
})

describe('a gate beside recorded times', () => {
  const state = stateNow(detection, 'cuda:0')
  const recorded = (change: Partial<RecordedSide> = {}): RecordedSide => ({
    ...{ kind: 'recorded', name: 'baseline.json', device: state, method: methodName },
    ...{ mode: 'hot', output: 'f16' },
    points: [64, 256].map((k) => ({
      ...{ format: 'mxfp4', m: 64, n: 64, k, kernel: 'a', sourceHash: '', badges: [] },
      ...{ meanMHz: 1900, samplesNs: Array.from({ length: 12 }, (_, i) => [1000 + i]) }
    })),
    ...change
  })
  const all = { ...request, narrow: { formats: false, m: false, n: false, k: false } }

  it('times the points and the mode that they have', async () => {
    const gate = await runGate(recorded(), tested, all, workWith({}).work)
    expect(gate.points.map(({ k, verdict }) => [k, verdict])).toEqual([
      [64, 'same'],
      [256, 'same']
    ])
    expect(gate).toMatchObject({ mode: 'hot', passed: true })
    expect(gate.how).toContain('not measured alternately')
    const narrow = await runGate(recorded(), tested, request, workWith({}).work)
    expect(narrow.points.map(({ k }) => k)).toEqual([64])
    const row = { name: 'o', m: 64, n: 64, k: 256, groups: 1, weight: 1 }
    const { kValues: _, ...bare } = request.spec
    const spec = { ...bare, kValues: [], shapes: { source: 'own.csv', rows: [row] } }
    const shaped = await runGate(recorded(), tested, { ...all, spec }, workWith({}).work)
    expect(shaped.points.map(({ k }) => k)).toEqual([256])
    const slower = await runGate(recorded(), tested, all, workWith({ time: () => 1100 }).work)
    expect(slower.points.map(({ verdict }) => verdict)).toEqual(['slower', 'slower'])
  })

  it('has of a baseline what was recorded by the same method, of a CPU by any', () => {
    const asked = { mode: 'hot', output: 'f16' }
    const found = (device: typeof state, method: string) => {
      const one = { device, recordedAt: '2026-11-27T00:00:00.000Z', method, ...asked, points: [] }
      return stateOfBaseline({ blockscopeBaseline: 1, states: [one] }, device, asked) === one
    }
    expect(found(state, methodName)).toBe(true)
    expect(found(state, 'bs-2')).toBe(false)
    expect(found({ ...state, driver: '' }, 'bs-2')).toBe(true)
  })

  it('refuses another driver, clock, power limit or method, and another mode than it was asked for', async () => {
    const refused = (side: RecordedSide, wanted = all) =>
      runGate(side, tested, wanted, workWith({}).work)
    const error = await refused(
      recorded({ device: { ...state, driver: '570.2', powerLimitW: 500 } })
    ).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UserError)
    expect(error).toMatchObject({
      kind: 'failed',
      message:
        'Times of baseline.json do not compare: driver 570.2 then, driver 580.1 now; 500 W then, 700 W now.'
    })
    await expect(refused(recorded({ method: 'bs-2' }))).rejects.toThrow(
      `Times of baseline.json do not compare: method bs-2 then, ${methodName} now.`
    )
    const plain = recorded({ name: 'one', spec: request.spec })
    const other = recorded({ name: 'two', spec: { ...request.spec, accumulate: true } })
    await expect(runGate(plain, other, all, workWith({}).work)).rejects.toThrow(
      'one is A x B, and two is + accumulator: they do not compare.'
    )
    await expect(refused(recorded(), { ...all, asked: { mode: 'cold' } })).rejects.toThrow(
      'was timed with mode hot, and what is asked is cold'
    )
  })
})
