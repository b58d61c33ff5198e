/** --counters: the injected library on a stand-in of CUPTI's range profiler, which checks each call's parameters. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { accountSentences } from '@shared/capture/accountSentences'
import { counterMetrics } from '@shared/capture/counterMetrics'
import { countersOf, counterTableLines } from '@shared/capture/counterTable'
import { allKernelFacts, kernelTableLines } from '@shared/capture/kernelTable'
import { KernelTally } from '@shared/capture/kernelTally'
import {
  newCaptureFolder,
  readShards,
  startCaptured,
  stubCupti,
  stubProgram
} from '../../support/captureStubs'

const folders: string[] = []
const metrics = ['dram__bytes_read.sum', 'lts__t_bytes.sum', 'own__metric.ratio']

async function measure(words: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const folder = newCaptureFolder()
  folders.push(folder)
  const asked = { BLOCKSCOPE_CAPTURE_COUNTERS: metrics.join(','), ...environment }
  const ended = await startCaptured(folder, [stubProgram, ...words], asked).done
  const { names, accounts, reader } = readShards(folder)
  return { folder, ended, names: names[0]!, account: accounts[0]!, warnings: reader.warnings }
}

const words = [
  ...['launch:gemm:5:20', 'launch:relu:3:7', 'graph:2:4', 'fail', 'launch:gemm:2:20'],
  ...['thread', 'launch:gemm:3:20', 'launch:other:1:9', 'join', 'sync', 'exit:3']
]

describe.skipIf(process.platform !== 'linux')('counters', () => {
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  it("measures each kernel's first launch alone, outside graph capture, and loses no record", async () => {
    const { ended, names, account, warnings } = await measure(words)
    expect(ended).toMatchObject({ code: 3, stderr: '' })
    expect(warnings).toEqual([])
    expect(names.metricSets).toEqual([{ names: metrics, chip: 'GH100', passes: 3 }])
    // The stand-in's value is the metric's place times the kernel's ns: of one kernel, or it is none.
    const expected = [20_000, 7000, 9000].map((ns) => ({
      [metrics[0]!]: ns,
      [metrics[1]!]: 2 * ns,
      [metrics[2]!]: 3 * ns
    }))
    expect(countersOf([names]).map(({ values }) => values)).toEqual(expected)
    expect(countersOf([names]).map(({ kernel }) => kernel)).toEqual(['gemm', 'relu', 'other'])
    expect(account).toMatchObject({
      ...{ expectedKernels: 22, lostKernels: 0, surplusKernels: 0, unfinished: 0 },
      read: { kernels: 19, measured: 3, withoutTime: 0, withoutLaunch: 0 }
    })
    expect(accountSentences([account])).toEqual([
      expect.stringMatching(/: 3 launches were measured by counters, .* and have no time\.$/)
    ])
    expect(account.counters).toEqual({ kernels: 3, missing: '' })
    const table = counterTableLines(countersOf([names]), (name) => name)
    expect(table[0]).toMatch(/DRAM read \(bytes\) +L2 \(bytes\) +own__metric\.ratio +kernel/)
    expect(table[1]).toMatch(/20,?000 +40,?000 +60,?000 +gemm/)
  })

  it.each([
    ['', 3],
    ['timed', 3],
    ['never', 0]
  ])('a launch that was measured has no time, whatever its record says: %s', async (mode, rows) => {
    const tally = new KernelTally()
    const { folder, account } = await measure(words, { STUB_CUPTI_MEASURED: mode })
    readShards(folder, tally)
    expect(account).toMatchObject({
      ...{ expectedKernels: 22, lostKernels: 0, surplusKernels: 0, unfinished: 0 },
      read: { kernels: 19, measured: 3, repeated: 0 }
    })
    const facts = allKernelFacts(tally.sums)
    const figures = (name: string) => facts.find(({ kernel }) => kernel === name)
    expect(figures('gemm')).toMatchObject({ count: 9, totalNs: 180_000, medianNs: 20_000 })
    expect(facts.filter(({ measured }) => measured > 0)).toHaveLength(rows)
    // Launched once: without the record nobody knows its shape.
    if (mode === 'never') return expect(figures('other')).toBeUndefined()
    expect(figures('other')).toMatchObject({ count: 0, measured: 1, medianNs: NaN, maxNs: NaN })
    const lines = kernelTableLines(facts, 10, (name) => name)
    expect(lines[0]).toMatch(/count +measured +median/)
    expect(lines.find((line) => line.endsWith('other'))).toMatch(/ 0 +1 +– +– +– /)
  })

  it('measures none that --kernels leaves out', async () => {
    const { names, account } = await measure(words, { BLOCKSCOPE_CAPTURE_KERNELS: '^relu' })
    expect(countersOf([names]).map(({ kernel }) => kernel)).toEqual(['relu'])
    expect(account).toMatchObject({ lostKernels: 0, surplusKernels: 0, read: { measured: 1 } })
  })

  it('says which metrics the chip has not, and measures by the others', async () => {
    const { names, warnings } = await measure(words, { STUB_COUNTERS_WITHOUT: 'dram__' })
    expect(names.metricSets[0]!.names).toEqual(metrics.slice(1))
    expect(names.measured).toHaveLength(3)
    expect(warnings).toEqual([
      'GH100 does not have, so nothing was measured by: dram__bytes_read.sum.'
    ])
  })

  it.each([
    ['35', /ERR_NVGPUCTRPERM.*CAP_SYS_ADMIN.*NVreg_RestrictProfilingToAdminUsers=0/],
    ['40', /virtual GPU needs enable_profiling/],
    ['26', /another profiler holds the GPU's counters/],
    ['41', /confidential computing/],
    ['43', /MIG/],
    ['999', /cuptiRangeProfilerEnable answers CUPTI_ERROR \(999\)/]
  ])('where CUPTI answers %s it says why and captures on without', async (error, reason) => {
    const { ended, account } = await measure(words, { STUB_COUNTERS: error })
    expect(ended).toMatchObject({ code: 3, stderr: '' })
    expect(account).toMatchObject({ lostKernels: 0, read: { kernels: 22 } })
    const said = accountSentences([account])
    expect(said).toEqual([expect.stringMatching(/^program \d+ has no counters: /)])
    expect(said[0]).toMatch(reason)
  })

  it('needs a CUPTI that has the range profiler', async () => {
    const old = join(stubCupti, '..', 'cupti12')
    const { account } = await measure(words, { BLOCKSCOPE_CUDA_PATH: old })
    expect(account.read.kernels).toBe(22)
    expect(accountSentences([account]).join()).toMatch(
      /has no function cuptiProfilerInitialize: counters need that of CUDA 12\.6/
    )
  })

  it('a set of its own has a name and a unit each', () => {
    expect(new Set(counterMetrics.map(({ name }) => name)).size).toBe(counterMetrics.length)
    expect(new Set(counterMetrics.map(({ label, unit }) => label + unit)).size).toBe(
      counterMetrics.length
    )
  })
})
