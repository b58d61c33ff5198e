/** The injected library, against a driver and a CUPTI that deliver as they are told: what happened is accounted for. */
import type { ChildProcess } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { accountSentences } from '@shared/capture/accountSentences'
import { headerBytes } from '@shared/capture/shardForm'
import { CaptureReader } from '@shared/capture/captureReader'
import { shardHeaders } from '../../../src-main/capture/captureFolder'
import {
  newCaptureFolder,
  readShards,
  shardFiles,
  startCaptured,
  stubDriver,
  stubProgram
} from '../../support/captureStubs'

const folders: string[] = []
/** Those that wait for something: a test that fails leaves none. */
const running: ChildProcess[] = []

async function capture(words: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const folder = newCaptureFolder()
  folders.push(folder)
  const ended = await startCaptured(folder, [stubProgram, ...words], environment).done
  return { folder, ended }
}

/** Waits for the event, however long the machine takes; the test's own limit ends it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

const sum = <T>(list: readonly T[], of: (one: T) => number) =>
  list.reduce((total, one) => total + of(one), 0)

describe.skipIf(process.platform !== 'linux')('the injected library', () => {
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL')
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  const everything = [
    ...['launch:plain:7', 'push:step', 'launch:gemm:5', 'push:inner "quote" > \u00fc'],
    ...['launch:gemm:2', 'pop', 'pop', 'copy:4096', 'set:100', 'graph:4:10', 'fail', 'fail'],
    ...['thread', 'push:worker', 'launch:onThread:3', 'pop', 'join', 'sync', 'exit:3']
  ]

  it('counts launches by kind and reads as many records', async () => {
    const { folder, ended } = await capture(everything)
    expect(ended).toEqual({ code: 3, signal: null, stdout: '', stderr: '' })
    const { accounts, reader } = readShards(folder)
    expect(reader.warnings).toEqual([])
    expect(accounts).toHaveLength(1)
    expect(accounts[0]).toMatchObject({
      state: 'ended',
      launches: { kernels: 7 + 5 + 2 + 3, graphs: 10, copies: 1, sets: 1 },
      failed: 2,
      captured: 4,
      expectedKernels: 17 + 4 * 10,
      read: { kernels: 57, copies: 1, sets: 1, repeated: 0, withoutTime: 0, withoutLaunch: 0 },
      lostKernels: 0,
      surplusKernels: 0,
      dropped: 0
    })
    expect(accounts[0]!.cupti!.path).toContain('libcupti.so.13')
  })

  it('knows path, thread, shape and bytes of what ran', async () => {
    const { folder } = await capture(everything)
    const found = new Map<string, number>()
    const copies: number[] = []
    let names!: { current: ReturnType<typeof readShards>['names'][number] }
    readShards(folder, {
      process: (current) => (names = { current }),
      activity: ({ kind, path, node, shape, bytes, thread }) => {
        const { current } = names
        if (kind === 'copy') copies.push(bytes)
        if (kind !== 'kernel') return
        const where = [...current.namesOf(path), ...(node ? ['@'] : [])]
        const captured = current.pathOfNode.get(node)
        if (captured !== undefined) where.push(...current.namesOf(captured))
        const name = [...where, current.shapes[shape]!.kernel, `thread ${thread}`].join('|')
        found.set(name, (found.get(name) ?? 0) + 1)
        expect(current.shapes[shape]).toMatchObject({ grid: [264, 2, 1], block: [128, 1, 1] })
      }
    })
    expect(Object.fromEntries(found)).toEqual({
      'plain|thread 0': 7,
      'step|gemm|thread 0': 5,
      'step|inner "quote" > \u00fc|gemm|thread 0': 2,
      '@|capture|node|thread 0': 40,
      'worker|onThread|thread 1': 3
    })
    expect(copies).toEqual([4096])
  })

  it('keeps ranges of domains apart and takes wide names', async () => {
    const { folder } = await capture([
      ...['push:outer', 'domain-push:library', 'launch:a', 'pop', 'launch:b', 'domain-pop'],
      ...['launch:c', 'wide-push:wide', 'launch:d', 'exit:0']
    ])
    const paths: string[] = []
    let names!: ReturnType<typeof readShards>['names'][number]
    readShards(folder, {
      process: (current) => (names = current),
      activity: ({ path, shape }) =>
        paths.push([...names.namesOf(path), names.shapes[shape]!.kernel].join('|'))
    })
    expect(paths).toEqual(['outer|library|a', 'outer|library|b', 'c', 'wide\u00e9|d'])
  })

  const thousand = ['launch:k:600:1', 'sync', 'launch:k:400:1', 'sync']
  it.each([
    ['late', { kernels: 1000, repeated: 0, withoutTime: 0 }, 0, 0],
    ['burst', { kernels: 1000, repeated: 0, withoutTime: 0 }, 0, 0],
    ['shuffled', { kernels: 1000, repeated: 0, withoutTime: 0 }, 0, 0],
    ['twice', { kernels: 1000, repeated: 1000, withoutTime: 0 }, 0, 0],
    ['bad-times', { kernels: 1000, repeated: 0, withoutTime: 333 }, 0, 0],
    ['never', { kernels: 0, repeated: 0, withoutTime: 0 }, 1000, 0],
    ['dropped', { kernels: 750, repeated: 0, withoutTime: 0 }, 250, 250]
  ])('accounts for records that come %s', async (mode, read, lostKernels, dropped) => {
    const { folder, ended } = await capture(thousand, { STUB_CUPTI: mode })
    expect(ended.code).toBe(0)
    let timed = 0
    const { accounts } = readShards(folder, {
      activity: ({ durationNs }) => {
        timed++
        expect(durationNs).toBe(1000)
      }
    })
    expect(accounts[0]).toMatchObject({
      ...{ state: 'ended', expectedKernels: 1000, read, lostKernels, dropped, surplusKernels: 0 }
    })
    expect(timed).toBe(read.kernels - read.withoutTime)
  })

  it('puts records of a clock that is off beside their launches', async () => {
    const off = 3_600_000_000_000
    const { folder } = await capture(['launch:k:20'], { STUB_CUPTI_CLOCK: String(off) })
    const delays: number[] = []
    readShards(folder, { activity: ({ startNs, launchNs }) => delays.push(startNs - launchNs) })
    expect(delays).toHaveLength(20)
    for (const delay of delays) expect(Math.abs(delay)).toBeLessThan(off / 2)
  })

  it('loses nothing where the program ends by _exit, in children too, forked or started', async () => {
    const { folder, ended } = await capture([
      ...['fork', 'launch:forked:30:1', 'join', 'spawn', 'launch:spawned:40:1', '_exit:0', 'join'],
      ...['launch:own:50:1', 'fork', 'print:child', 'join', '_exit:7']
    ])
    expect(ended).toMatchObject({ code: 7, stdout: 'child\n' })
    const { accounts } = readShards(folder)
    // The child that was forked after CUDA had started uses no GPU.
    expect(accounts.map(({ read }) => read.kernels).sort()).toEqual([30, 40, 50])
    expect(sum(accounts, ({ lostKernels }) => lostKernels)).toBe(0)
    const own = accounts.find(({ read }) => read.kernels === 50)!
    for (const account of accounts.filter((one) => one !== own))
      expect(account.parentPid).toBe(own.pid)
  })

  it('has what a killed process had flushed, and knows what it had launched', async () => {
    const folder = newCaptureFolder()
    folders.push(folder)
    const go = join(folder, 'go')
    const words = ['launch:k:500:1', `until:${go}`, 'launch:k:40:1', 'kill']
    const { child, done } = startCaptured(folder, [stubProgram, ...words])
    running.push(child)
    await until(() => {
      const [header] = shardHeaders(folder)
      return header?.counters[9] === 500 && readShards(folder).accounts[0]!.read.kernels === 500
    })
    writeFileSync(go, '')
    expect((await done).signal).toBe('SIGKILL')
    const [account] = readShards(folder).accounts
    expect(account).toMatchObject({ state: 'cut off', expectedKernels: 540 })
    expect(account!.read.kernels).toBeGreaterThanOrEqual(500)
    expect(account!.read.kernels + account!.lostKernels).toBe(540)
  })

  it('reads a shard that was cut anywhere up to its last whole record', async () => {
    const { folder } = await capture(['push:r', 'launch:k:40:1', 'pop', 'copy:8', 'exit:0'])
    const [file] = shardFiles(folder)
    const bytes = readFileSync(file!)
    let most = 0
    for (let size = headerBytes; size <= bytes.length; size += 7) {
      const reader = new CaptureReader({})
      reader.open('cut.shard')
      // In pieces that end anywhere.
      for (let at = 0; at < size; at += 61)
        reader.write(bytes.subarray(at, Math.min(size, at + 61)))
      reader.close()
      const { kernels } = reader.accounts[0]!.read
      expect(kernels).toBeGreaterThanOrEqual(most)
      most = kernels
      if (size < bytes.length - 8 && reader.warnings.length > 0)
        expect(reader.warnings.join()).toMatch(/ends within a block/)
    }
    expect(most).toBe(40)
  })

  it('a record per graph where that is asked for', async () => {
    const { folder } = await capture(['graph:5:12', 'launch:k:3'], {
      BLOCKSCOPE_CAPTURE_GRAPHS: '1'
    })
    const [account] = readShards(folder).accounts
    expect(account).toMatchObject({ expectedKernels: 3, lostKernels: 0 })
    expect(account!.read).toMatchObject({ kernels: 3, graphs: 12 })
  })

  it('keeps the kernels that are asked for, by launches within a range', async () => {
    const { folder } = await capture(
      ['launch:gemm:9', 'push:step', 'launch:gemm:4', 'launch:relu:5', 'pop', 'launch:gemm:6'],
      { BLOCKSCOPE_CAPTURE_RANGE: 'step', BLOCKSCOPE_CAPTURE_KERNELS: '^ge.m' }
    )
    const [account] = readShards(folder).accounts
    expect(account).toMatchObject({
      ...{ expectedKernels: 9, filtered: 5, outside: 15, lostKernels: 0 },
      ...{ read: { kernels: 4, withoutLaunch: 0 } }
    })
  })

  it.each([
    ['39', /another profiler already holds CUPTI/],
    ['15', /./]
  ])('leaves the program alone where CUPTI answers %s, and says so', async (error, reason) => {
    const { folder, ended } = await capture(['launch:k:5', 'exit:4'], { STUB_CUPTI_ERROR: error })
    expect(ended).toMatchObject({ code: 4, stderr: '' })
    const [account] = readShards(folder).accounts
    expect(account!.state).toBe('failed')
    expect(account!.failure).toMatch(reason)
  })

  // One that refuses the subscription is not the last that is tried: this machine may have another.
  it.each([
    [
      'STUB_CUPTI_ENABLE',
      '12.4',
      /, or set BLOCKSCOPE_CUDA_PATH to a folder with the CUPTI of CUDA 12\.$/
    ],
    ['STUB_CUPTI_ERROR', '11.4', /update the driver\.$/]
  ])(
    'a driver older than CUPTI is named with the remedy, and the program runs on: %s, %s',
    async (refusal, driver, remedy) => {
      const version = driver.replace('.', '0').concat('0')
      const old = { [refusal]: '15', STUB_CUDA_VERSION: version }
      const { folder, ended } = await capture(['launch:k:5', 'exit:4'], old)
      expect(ended).toEqual({ code: 4, signal: null, stdout: '', stderr: '' })
      const [sentence, ...more] = accountSentences(readShards(folder).accounts)
      expect(more).toEqual([])
      expect(sentence).toMatch(
        /was not captured: .*CUPTI_ERROR\w*.*: it is of CUDA 1\d and the driver /
      )
      expect(sentence).toContain(`${driver}, which is too old for it: update the driver`)
      expect(sentence).toMatch(remedy)
    }
  )

  const hasOther = ['/usr/local/cuda', '/usr/lib/x86_64-linux-gnu/libcupti.so.12'].some(existsSync)
  it.skipIf(hasOther).each([
    ['none', undefined, /no libcupti\.so\.13 or libcupti\.so\.12 was found: install the CUDA/],
    ['one that is too old', stubDriver, /libcupti\.so\.13 has no function cupti\w+: it is too old/]
  ])(
    'where CUPTI is %s the program runs on, and says it in a sentence',
    async (_, file, reason) => {
      const toolkit = newCaptureFolder()
      folders.push(toolkit)
      if (file) copyFileSync(file, join(toolkit, 'libcupti.so.13'))
      const { folder, ended } = await capture(['launch:k:5', 'exit:4'], {
        ...{ BLOCKSCOPE_CUDA_PATH: toolkit, CUDA_HOME: '', CUDA_PATH: '', HOME: toolkit },
        ...{ PATH: toolkit, VIRTUAL_ENV: '', CONDA_PREFIX: '' }
      })
      expect(ended).toEqual({ code: 4, signal: null, stdout: '', stderr: '' })
      const [account] = readShards(folder).accounts
      expect(account).toMatchObject({ state: 'failed', cupti: null })
      expect(account!.failure).toMatch(reason)
    }
  )

  it('a disk that is full costs records, which are counted, and never the program', async () => {
    const folder = newCaptureFolder()
    folders.push(folder)
    const words = ['launch:k:4000:1', 'sync', 'launch:k:4000:1', 'exit:5'].join(' ')
    // 64 KiB a file: in units of 1,024 bytes.
    const limited = ['bash', '-c', `ulimit -f 64; exec ${stubProgram} ${words}`]
    expect(await startCaptured(folder, limited).done).toMatchObject({ code: 5, stderr: '' })
    const { reader, accounts } = readShards(folder)
    expect(reader.warnings).toEqual([])
    expect(accounts[0]).toMatchObject({ expectedKernels: 8000, state: 'ended' })
    expect(accounts[0]!.unwritten).toBeGreaterThan(0)
    expect(accounts[0]!.read.kernels + accounts[0]!.lostKernels).toBe(8000)
  })

  it('a folder that takes no shard leaves the program alone', async () => {
    const folder = newCaptureFolder()
    folders.push(folder)
    rmSync(join(folder, 'control'))
    mkdirSync(join(folder, 'control'))
    const { done } = startCaptured(folder, [stubProgram, 'launch:k:5', 'exit:6'])
    expect(await done).toMatchObject({ code: 6, stderr: '' })
    expect(shardFiles(folder)).toEqual([])
  })
})
