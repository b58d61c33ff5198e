/** The injected library as a tool of rocprofiler-sdk, against a HIP and an SDK that deliver as they are told. */
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { accountSentences } from '@shared/capture/accountSentences'
import {
  injected,
  newCaptureFolder,
  readShards,
  startCaptured,
  stubHip,
  stubProgram
} from '../../support/captureStubs'

const folders: string[] = []
const environment = {
  LD_LIBRARY_PATH: dirname(stubHip),
  ROCP_TOOL_LIBRARIES: injected,
  CUDA_INJECTION64_PATH: ''
}

async function capture(words: readonly string[], set: NodeJS.ProcessEnv = {}) {
  const folder = newCaptureFolder()
  folders.push(folder)
  const command = [stubProgram, ...words]
  const ended = await startCaptured(folder, command, { ...environment, ...set }).done
  return { folder, ended }
}

describe.skipIf(process.platform !== 'linux')('a program on HIP', () => {
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  const everything = [
    ...['launch:plain:7', 'push:step', 'launch:gemm:5:10:2', 'push:inner', 'launch:gemm:2', 'pop'],
    ...['pop', 'copy:4096', 'set:100', 'graph:4:10', 'fail', 'fail'],
    ...['thread', 'push:worker', 'launch:onThread:3', 'pop', 'join', 'sync', 'exit:3']
  ]

  it.each(['1.1.0', '1.0.0', '0.6.0', '0.5.0'])(
    'is accounted for by rocprofiler-sdk %s: calls, dispatches, copies, graphs',
    async (version) => {
      const { folder, ended } = await capture(everything, { STUB_ROCPROFILER_VERSION: version })
      expect(ended).toEqual({ code: 3, signal: null, stdout: '', stderr: '' })
      const { accounts, reader } = readShards(folder)
      expect(reader.warnings).toEqual([])
      expect(accounts).toHaveLength(1)
      // What sets memory is a kernel of the runtime's own.
      const kernels = 7 + 5 + 2 + 3 + 4 * 10 + 1
      expect(accounts[0]).toMatchObject({
        state: 'ended',
        cupti: null,
        rocprofiler: { version, path: stubHip },
        launches: { kernels: 7 + 5 + 2 + 3, graphs: 10, copies: 1, sets: 1 },
        failed: 2,
        captured: 4,
        expectedKernels: kernels,
        read: { kernels, copies: 1, sets: 0, repeated: 0, withoutTime: 0, withoutLaunch: 0 },
        ...{ lostKernels: 0, surplusKernels: 0, dropped: 0, outside: 0 }
      })
      expect(accountSentences(accounts)).toEqual([
        expect.stringContaining(
          `rocprofiler-sdk ${version}; blockscope's capture was not run on an`
        )
      ])
    }
  )

  it('knows path, thread, name, shape, queue, device and bytes of what ran', async () => {
    const { folder } = await capture(everything)
    const found = new Map<string, number>()
    const copies: object[] = []
    let names!: ReturnType<typeof readShards>['names'][number]
    readShards(folder, {
      process: (current) => (names = current),
      activity: ({ kind, path, shape, place, bytes, copyKind, thread, startNs, launchNs }) => {
        // Beside its launch, though the two clocks began at different times.
        expect(Math.abs(startNs - launchNs)).toBeLessThan(60_000_000_000)
        if (kind === 'copy') copies.push({ bytes, copyKind, place: names.places[place] })
        if (kind !== 'kernel') return
        const { kernel, grid, block } = names.shapes[shape]!
        const { stream } = names.places[place]!
        const where = [...names.namesOf(path), kernel, `thread ${thread}`, `queue ${stream}`]
        found.set(where.join('|'), (found.get(where.join('|')) ?? 0) + 1)
        if (kernel.startsWith('__amd')) return
        expect({ grid, block }).toEqual({ grid: [264, 2, 1], block: [128, 1, 1] })
        expect(names.shapes[shape]).toMatchObject({
          registersPerThread: 128,
          staticSharedBytes: 1024,
          dynamicSharedBytes: 2048,
          localBytesPerThread: 16
        })
      }
    })
    expect(Object.fromEntries(found)).toEqual({
      'plain|thread 0|queue 1': 7,
      'step|gemm|thread 0|queue 2': 5,
      'step|inner|gemm|thread 0|queue 1': 2,
      '__amd_rocclr_fillBufferAligned|thread 0|queue 1': 1,
      'node|thread 0|queue 3': 40,
      'worker|onThread|thread 1|queue 1': 3
    })
    expect(copies).toEqual([
      { bytes: 4096, copyKind: 1, place: { device: 3, context: 0, stream: 0 } }
    ])
    expect(names.devices).toEqual([
      expect.objectContaining({
        ...{ number: 3, name: 'Stub Instinct', architecture: 'gfx950', multiprocessors: 256 },
        ...{ uuid: '0000000000001234', clockRateKHz: 2_400_000 }
      })
    ])
  })

  const thousand = ['launch:k:600:1', 'sync', 'launch:k:400:1', 'sync']
  it.each([
    ['late', { kernels: 1000, repeated: 0, withoutTime: 0 }, 0],
    ['burst', { kernels: 1000, repeated: 0, withoutTime: 0 }, 0],
    ['shuffled', { kernels: 1000, repeated: 0, withoutTime: 0 }, 0],
    ['twice', { kernels: 1000, repeated: 1000, withoutTime: 0 }, 0],
    ['bad-times', { kernels: 1000, repeated: 0, withoutTime: 333 }, 0]
  ])('accounts for records that come %s', async (mode, read, lostKernels) => {
    const { folder, ended } = await capture(thousand, { STUB_ROCPROFILER: mode })
    expect(ended.code).toBe(0)
    const { accounts } = readShards(folder)
    expect(accounts[0]).toMatchObject({ state: 'ended', expectedKernels: 1000, read, lostKernels })
  })

  it('states what the SDK dropped', async () => {
    const { folder, ended } = await capture(thousand, { STUB_ROCPROFILER: 'dropped' })
    expect(ended.code).toBe(0)
    const { accounts } = readShards(folder)
    expect(accounts[0]).toMatchObject({ expectedKernels: 1000, lostKernels: 250, dropped: 250 })
    expect(accountSentences(accounts).join()).toMatch(/250 of 1,000 .* rocprofiler-sdk dropped 250/)
  })

  it('loses nothing by _exit, nor in a program that it starts; states what a SIGKILL took', async () => {
    const { folder } = await capture([
      ...['spawn', 'launch:spawned:40:1', '_exit:0', 'join', 'launch:own:50:1', '_exit:0']
    ])
    const { accounts } = readShards(folder)
    expect(accounts.map(({ read }) => read.kernels).sort()).toEqual([40, 50])
    const killed = await capture(['launch:k:30:1', 'sync', 'kill'], { STUB_ROCPROFILER: 'never' })
    expect(readShards(killed.folder).accounts[0]).toMatchObject({
      ...{ state: 'cut off', expectedKernels: 30, lostKernels: 30, read: { kernels: 0 } }
    })
  })

  it('keeps the kernels that are asked for, by launches within a range', async () => {
    const { folder } = await capture(
      ['launch:gemm:9', 'push:step', 'launch:gemm:4', 'launch:relu:5', 'pop', 'launch:gemm:6'],
      { BLOCKSCOPE_CAPTURE_RANGE: 'step', BLOCKSCOPE_CAPTURE_KERNELS: '^ge.m' }
    )
    expect(readShards(folder).accounts[0]).toMatchObject({
      ...{ expectedKernels: 9, filtered: 5, outside: 15, lostKernels: 0 },
      ...{ read: { kernels: 4, withoutLaunch: 0 } }
    })
  })

  it.each([
    [{ STUB_ROCPROFILER_VERSION: '0.4.0' }, /rocprofiler-sdk 0\.4\.0 \(.*\) are not known here/],
    [{ STUB_ROCPROFILER_VERSION: '2.0.1' }, /not known here, those of 0\.5, 0\.6, 1\.0 and 1\.1/],
    [{ STUB_ROCPROFILER_REFUSES: '12' }, /refuses the dispatches of queues: Service has already/]
  ])('is left alone where the SDK is another or refuses (%o), and says so', async (set, reason) => {
    const { folder, ended } = await capture(['launch:k:5', 'sync', 'exit:4'], set)
    expect(ended).toEqual({ code: 4, signal: null, stdout: '', stderr: '' })
    const { accounts } = readShards(folder)
    expect(accounts[0]!.state).toBe('failed')
    expect(accountSentences(accounts).join()).toMatch(reason)
  })

  it('says what AMD does not have, and names a profiler that the program brings', async () => {
    const { folder } = await capture(['launch:k:2'], {
      BLOCKSCOPE_CAPTURE_GRAPHS: '1',
      BLOCKSCOPE_CAPTURE_COUNTERS: 'sm__cycles_active.avg'
    })
    const { accounts, reader } = readShards(folder)
    expect(reader.warnings.join()).toMatch(/no records of whole graphs: --graphs has no effect/)
    expect(accountSentences(accounts).join()).toMatch(/no counters: .*rocprofv3 --pmc/)
    // The library itself comes by LD_PRELOAD all the same.
    const other = await capture(['launch:k:2'], { ROCP_TOOL_LIBRARIES: '/opt/other/libtool.so' })
    expect(accountSentences(readShards(other.folder).accounts).join()).toMatch(
      /names another profiler, which ran beside: ROCP_TOOL_LIBRARIES is \/opt\/other\/libtool\.so/
    )
  })
})
