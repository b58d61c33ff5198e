/** Captures as the app starts them: the real program and library on a stand-in of driver and CUPTI. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  captureSpecSchema,
  type CaptureEvent,
  type CaptureSpecInput
} from '@shared/contract/capture'
import { CaptureManager } from '../../../../src-main/capture/captureManager'
import { shardHeaders } from '../../../../src-main/capture/captureFolder'
import { stubCupti, stubProgram } from '../../../support/captureStubs'

describe.skipIf(process.platform !== 'linux')('captures of the app', () => {
  let folder: string
  let manager: CaptureManager
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'blockscope-captures-')))
    manager = new CaptureManager(join(folder, 'captures'), async () => true)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const spec = (words: readonly string[], more: Partial<CaptureSpecInput> = {}) =>
    v.parse(captureSpecSchema, {
      command: [stubProgram, ...words],
      environment: { BLOCKSCOPE_CUDA_PATH: stubCupti },
      ...more
    })

  /** Watches; `at` is called with each event. */
  const watch = (id: string, at: (event: CaptureEvent) => void = () => {}) =>
    manager.watch(id, new AbortController().signal, at)

  it('counts while it runs, ends without the program, then with it; is listed', async () => {
    const go = join(folder, 'go')
    const id = (await manager.start(
      spec(['launch:gemm:40', 'sync', 'print:hello', `until:${go}`])
    ))!
    await expect(manager.start(spec(['launch:x']))).rejects.toThrow(/still runs: end it/)
    expect(manager.list()).toMatchObject({ running: id, captures: [] })
    const states = new Set<string>()
    let printed = ''
    const done = watch(id, (event) => {
      states.add(event.state)
      printed = event.output
      if (event.state === 'recording' && event.counts.launches === 40 && printed !== '')
        manager.stop(id, 'capture')
      if (event.state === 'ended') {
        expect(event.counts).toMatchObject({ processes: 1, kernels: 40, dropped: 0 })
        expect(event.summary).toMatchObject({ kernels: 40, lostKernels: 0 })
        writeFileSync(go, '')
      }
    })
    expect(await done).toMatchObject({ kernels: 40, program: { code: 0, signal: null }, notes: [] })
    expect([...states]).toContain('recording')
    expect(printed).toBe('hello\n')
    expect(manager.list()).toMatchObject({ running: null, captures: [{ id, kernels: 40 }] })
    expect(await watch(id)).toMatchObject({ kernels: 40 })
    expect(() => manager.stop(id, 'capture')).toThrow(/does not run/)
  })

  it('starts it in its folder, with its environment; ends both at once', async () => {
    const words = ['-c', 'echo "$PWD $WORD"; sleep 600']
    const environment = { WORD: 'from the form' }
    const id = (await manager.start(
      v.parse(captureSpecSchema, { command: ['sh', ...words], workingFolder: folder, environment })
    ))!
    let printed = ''
    const end = await watch(id, ({ output, state }) => {
      printed = output
      if (output !== '' && state === 'recording') manager.stop(id, 'program')
    })
    expect(printed).toBe(`${folder} from the form\n`)
    expect(end).toMatchObject({
      program: { signal: 'SIGINT' },
      notes: [
        'No process started CUDA, nor HIP where ROCm has rocprofiler-sdk: nothing was captured.'
      ]
    })
  })

  it('waits for its beginning: what came before is not captured', async () => {
    const [go, end] = [join(folder, 'go-b'), join(folder, 'end-b')]
    const words = [
      'launch:a:5',
      'sync',
      'print:a',
      `until:${go}`,
      'launch:b:7',
      'sync',
      'print:b',
      `until:${end}`
    ]
    const id = (await manager.start(spec(words, { waits: true })))!
    const states: string[] = []
    const done = watch(id, ({ state, output }) => {
      if (states.at(-1) !== state) states.push(state)
      const headers = shardHeaders(manager.folderOf(id))
      if (state === 'waiting' && output === 'a\n') manager.begin(id)
      if (headers[0]?.state === 'recording') writeFileSync(go, '')
      if (state === 'recording' && output === 'a\nb\n') manager.stop(id, 'capture')
      if (state === 'ended') writeFileSync(end, '')
    })
    expect(await done).toMatchObject({ kernels: 7, lostKernels: 0 })
    expect(states.slice(0, 2)).toEqual(['waiting', 'recording'])
  })

  it('is ended when the app is, and what was captured is kept', async () => {
    const id = (await manager.start(spec(['launch:a:3', 'sync', 'print:up', 'sleep:600000'])))!
    await new Promise<void>((up) => void watch(id, ({ output }) => output !== '' && up()))
    await manager.close()
    expect(await watch(id)).toMatchObject({ kernels: 3 })
  })

  it.each([
    [{ command: ['no-such-program'] }, /no-such-program is no program/],
    [{ workingFolder: '/nowhere' }, /\/nowhere is no folder to start the program in/],
    [{ environment: { CUDA_INJECTION64_PATH: '/x.so' } }, /CUDA_INJECTION64_PATH is set to \/x\.so/]
  ])('refuses %j, and starts nothing', async (more, message) => {
    await expect(manager.start(spec(['launch:a'], more))).rejects.toThrow(message)
    expect(manager.list().running).toBeNull()
  })

  it('starts nothing where nobody may, or the person says no', async () => {
    const forbidden = new CaptureManager(folder, undefined)
    await expect(forbidden.start(spec(['launch:a']))).rejects.toThrow(
      'A capture starts a program: the desktop app of this machine does, and serve --allow-capture.'
    )
    const declined = new CaptureManager(folder, async () => false)
    expect(await declined.start(spec(['launch:a']))).toBeUndefined()
  })
})
