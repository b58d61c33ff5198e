import { afterEach, describe, expect, it, vi } from 'vitest'
import { RpcError } from '@shared/contract/methods'
import type { Handlers, JobEvent } from '@shared/contract/methods'
import { UserError } from '@shared/errors'
import { outcomeOf } from '@shared/measurement/outcome'
import { protocolVersion } from '@shared/rpc/frames'
import { version } from '../../../../package.json'
import { sampleRun } from '../../../support/sampleRun'
import { anyMethod, cleanUp, handlersWith, transports } from './support'

const summary = {
  id: 'r1',
  kind: 'sweep' as const,
  label: '',
  notes: '',
  createdAt: '2026-01-01T00:00:00Z',
  status: 'done' as const,
  device: 'cpu',
  formats: ['nvfp4'],
  shape: '',
  options: '',
  outcome: outcomeOf(sampleRun())
}

const progressEvent = (stepsDone: number): JobEvent => ({
  type: 'progress',
  stepsDone,
  stepsPlanned: 100,
  fraction: stepsDone / 100,
  activity: 'nvfp4 K=4096',
  secondsLeft: 1
})
const notice = (message: string): JobEvent => ({ type: 'notice', message })

/** Resolves when the signal of a call is aborted. */
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('the call was answered'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(RpcError)
      return error as RpcError
    }
  )

afterEach(cleanUp)

describe.each(transports)('calls %s', (_name, connect) => {
  it('say hello with protocol and version', async () => {
    const client = await connect(handlersWith({}))
    expect(await client.hello).toEqual({
      type: 'hello',
      protocol: protocolVersion,
      appVersion: version
    })
  })

  it('are answered, many at once, each with its own answer', async () => {
    const client = await connect(
      handlersWith({
        'runs.samples': async ({ step }) => {
          await new Promise((resolve) => setTimeout(resolve, 20 - step))
          return { samplesNs: [step], samplesMHz: [] }
        }
      })
    )
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, step) => client.call('runs.samples', { id: 'r1', step }))
    )
    expect(answers.map((answer) => answer.samplesNs[0])).toEqual([...Array(20).keys()])
  })

  it('get the defaults of the schema', async () => {
    const detect = vi.fn<Handlers['devices.detect']>(async () => ({
      devices: [],
      libraries: [],
      warnings: []
    }))
    const client = await connect(handlersWith({ 'devices.detect': detect }))
    await client.call('devices.detect', {})
    expect(detect.mock.calls[0]![0]).toEqual({ refresh: false })
  })

  it('carry bytes as bytes, both ways', async () => {
    const imported = vi.fn<Handlers['runs.import']>(async () => summary)
    const client = await connect(
      handlersWith({
        'runs.import': imported,
        'runs.export': async () => ({ name: 'a.csv', bytes: new Uint8Array([1, 2, 255]) })
      })
    )
    await client.call('runs.import', { name: 'x', bytes: new Uint8Array([0, 128]) })
    expect(imported.mock.calls[0]![0].bytes).toEqual(new Uint8Array([0, 128]))
    const { bytes } = await client.call('runs.export', { id: 'r1', as: 'csv' })
    expect(bytes).toEqual(new Uint8Array([1, 2, 255]))
  })

  it('refuse input that does not fit, naming the field, without running the handler', async () => {
    const start = vi.fn<Handlers['jobs.start']>()
    const client = await connect(handlersWith({ 'jobs.start': start }))
    const error = await failure(
      client.call('jobs.start', { kind: 'sweep', formats: ['nvfp4'], kValues: [128, -1] })
    )
    expect(error.code).toBe('invalid-input')
    expect(error.message).toMatch(/^jobs\.start: kValues\.1: .*-1/)
    const extra = await failure(client.call('jobs.cancel', { id: 'a', force: true } as never))
    expect(extra.message).toMatch(/^jobs\.cancel: force: /)
    expect(start).not.toHaveBeenCalled()
  })

  it('refuse an answer that does not fit, naming the field', async () => {
    const client = await connect(
      handlersWith({ 'jobs.start': async () => ({ id: 7 }) as unknown as { id: string } })
    )
    const error = await failure(client.call('jobs.start', { kind: 'validate', formats: ['nvfp4'] }))
    expect(error.code).toBe('internal')
    expect(error.message).toMatch(/The output of jobs\.start: id: text is expected, not 7/)
  })

  it('refuse progress that does not fit, and cancel the call', async () => {
    let seen: AbortSignal | undefined
    const client = await connect(
      handlersWith({
        'jobs.watch': async (_input, { signal, progress }) => {
          seen = signal
          progress({ type: 'notice' } as never)
          await aborted(signal)
          return summary
        }
      })
    )
    const error = await failure(client.call('jobs.watch', { id: 'r1' }))
    expect(error.message).toMatch(/The progress of jobs\.watch: message: /)
    await vi.waitFor(() => expect(seen?.aborted).toBe(true))
  })

  it.each(['__proto__', 'constructor', 'toString', 'runs.nothing', ''])(
    'refuse a method that is not in the contract: "%s"',
    async (name) => {
      const client = await connect(handlersWith({}))
      const error = await failure(client.call(anyMethod(name), {}))
      expect(error.code).toBe('unknown-method')
      expect(error.message).toContain(`"${name}"`)
    }
  )

  it.each([
    ['usage', 'invalid-input'],
    ['failed', 'failed'],
    ['unavailable', 'unavailable']
  ] as const)('map a user error of kind %s to %s', async (kind, code) => {
    const client = await connect(
      handlersWith({ 'runs.get': () => Promise.reject(new UserError(kind, 'No CUDA driver.')) })
    )
    expect(await failure(client.call('runs.get', { id: 'a' }))).toMatchObject({
      code,
      message: 'No CUDA driver.'
    })
  })

  it('keep the stack of an unexpected error on its own side', async () => {
    const seen: unknown[] = []
    const broken = new TypeError('x is undefined')
    const client = await connect(
      handlersWith({
        'runs.list': () => {
          throw broken
        }
      }),
      { onInternalError: (...told) => seen.push(told) }
    )
    const error = await failure(client.call('runs.list', {}))
    expect(error).toMatchObject({ code: 'internal', message: 'runs.list failed: x is undefined' })
    expect(JSON.stringify(error)).not.toContain('transports.test')
    expect(seen).toEqual([['runs.list', broken]])
  })

  it('are cancelled by their signal: the caller at once, the handler through its own', async () => {
    let seen: AbortSignal | undefined
    const client = await connect(
      handlersWith({
        'jobs.watch': async (_input, { signal }) => {
          seen = signal
          await aborted(signal)
          return summary
        }
      })
    )
    const abort = new AbortController()
    const call = failure(client.call('jobs.watch', { id: 'r1' }, { signal: abort.signal }))
    await vi.waitFor(() => expect(seen).toBeDefined())
    abort.abort()
    expect((await call).code).toBe('cancelled')
    await vi.waitFor(() => expect(seen!.aborted).toBe(true))
    expect(
      (await failure(client.call('runs.list', {}, { signal: AbortSignal.abort() }))).code
    ).toBe('cancelled')
  })

  it('bring every event in order, and thin out only progress figures', async () => {
    const client = await connect(
      handlersWith({
        'jobs.watch': async (_input, { progress }) => {
          progress(notice('first'))
          for (let done = 0; done < 100; done++) {
            progress(progressEvent(done))
            if (done % 10 === 9) progress(notice(`after ${done}`))
            await new Promise((resolve) => setTimeout(resolve, 2))
          }
          return summary
        }
      })
    )
    const events: JobEvent[] = []
    await client.call('jobs.watch', { id: 'r1' }, { onProgress: (event) => events.push(event) })
    const notices = events.filter((event) => event.type === 'notice')
    expect(notices.map((event) => event.message)).toEqual([
      'first',
      ...Array.from({ length: 10 }, (_, i) => `after ${10 * i + 9}`)
    ])
    // Each notice is preceded by the newest figure before it.
    for (const [at, event] of events.entries())
      if (event.type === 'notice' && at > 0)
        expect(events[at - 1]).toMatchObject({ stepsDone: Number(event.message.slice(6)) })
    const figures = events.filter((event) => event.type === 'progress')
    expect(figures.length).toBeLessThan(30)
    expect(figures.at(-1)).toMatchObject({ stepsDone: 99 })
  })

  it('are aborted and rejected when the connection closes', async () => {
    let seen: AbortSignal | undefined
    const client = await connect(
      handlersWith({
        'jobs.watch': async (_input, { signal }) => {
          seen = signal
          await aborted(signal)
          return summary
        }
      })
    )
    const closed = vi.fn()
    client.onClose(closed)
    const call = failure(client.call('jobs.watch', { id: 'r1' }))
    await vi.waitFor(() => expect(seen).toBeDefined())
    client.close()
    expect((await call).code).toBe('disconnected')
    await vi.waitFor(() => expect(seen!.aborted).toBe(true))
    expect((await failure(client.call('runs.list', {}))).code).toBe('disconnected')
    expect(closed).toHaveBeenCalledTimes(1)
  })
})
