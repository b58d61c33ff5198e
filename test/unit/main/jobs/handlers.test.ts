/** The contract's methods as a page or another process calls them: what is refused never reaches the disk or the engine. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { JobSpecInput } from '@shared/contract/jobs'
import type { EngineOptions } from '../../../../src-main/engine/engineProtocol'
import { createApplication } from '../../../../src-main/jobs/handlers'
import { stringifyRun } from '../../../../src-main/store/runFile'
import { connectInProcess } from '../../../../src-main/transports/inProcess'
import { sampleRun } from '../../../support/sampleRun'
import { answeringEngine } from '../../../support/answeringEngine'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-handlers-'))
afterAll(() => rmSync(folder, { recursive: true }))
const storeFolder = join(folder, 'a', 'runs')

const application = createApplication({
  engineHost: {
    start: () => {
      throw new Error('No engine is started for what is refused.')
    }
  },
  storeFolder,
  kernelFolders: [],
  cacheFolder: join(folder, 'cache'),
  appVersion: '0.0.0',
  host: 'test',
  mayReadFiles: false
})
const client = connectInProcess(application.handlers)
const bytesOf = (change: object) =>
  new TextEncoder().encode(stringifyRun({ ...sampleRun(), ...change }))

beforeEach(() => rmSync(join(folder, 'a'), { recursive: true, force: true }))

describe('an id from a peer', () => {
  const ids = ['../../evil', '..', '.', '', '.trash', '-x', 'a/b', 'a\\b', 'a\0b', 'x'.repeat(300)]
  it.each(ids)('%j is refused by every method that takes one', async (id) => {
    const calls = [
      client.call('runs.get', { id }),
      client.call('runs.samples', { id, step: 0 }),
      client.call('runs.annotate', { id, label: 'x' }),
      client.call('runs.remove', { id }),
      client.call('runs.restore', { id }),
      client.call('runs.export', { id, as: 'json' }),
      client.call('jobs.watch', { id }),
      client.call('jobs.cancel', { id }),
      client.call('jobs.start', { kind: 'validate', formats: ['mxfp4'], resumes: id })
    ]
    for (const call of calls)
      await expect(call).rejects.toMatchObject({
        code: 'invalid-input',
        message: expect.stringContaining('a run id')
      })
  })

  it.each(ids)('%j in an imported run is refused, and nothing is written', async (id) => {
    const call = client.call('runs.import', { name: 'run.json', bytes: bytesOf({ id }) })
    await expect(call).rejects.toThrow(/at id: a run id/)
    expect(existsSync(join(folder, 'evil'))).toBe(false)
    expect(readdirSync(folder)).toEqual([])
  })
})

it('an imported run is listed, exported, removed and brought back', async () => {
  const { id } = await client.call('runs.import', { name: 'run.json', bytes: bytesOf({}) })
  expect(await client.call('runs.list', {})).toMatchObject([{ id }])
  const { name, bytes } = await client.call('runs.export', { id, as: 'folder' })
  expect(name).toBe(`${id}.blockscope-run`)
  await client.call('runs.remove', { id })
  await expect(client.call('runs.remove', { id })).rejects.toThrow('There is no run')
  await client.call('runs.restore', { id })
  const again = await client.call('runs.import', { name, bytes })
  expect(again.id).toBe(`${id}-2`)
  const text = readFileSync(join(storeFolder, id, 'run.json'), 'utf8')
  expect(JSON.parse(text)).toMatchObject({ id })
})

it('a caller that may not name files of the machine names none', async () => {
  const spec: JobSpecInput = {
    kind: 'validate',
    formats: ['mxfp4'],
    operandsFiles: ['/etc/passwd']
  }
  for (const method of ['jobs.plan', 'jobs.start'] as const)
    await expect(client.call(method, spec)).rejects.toThrow('not through the server')
})

it('a run that nobody makes cannot be cancelled', async () => {
  const { id } = await client.call('runs.import', { name: 'run.json', bytes: bytesOf({}) })
  await expect(client.call('jobs.cancel', { id })).rejects.toThrow('is not running: it is done')
})

it('a job that names a file of Python kernels is refused by every method that takes a job', async () => {
  const spec = { formats: ['mxfp4'], providerFiles: [join(folder, 'mine.py')] }
  const calls = [
    client.call('jobs.plan', { kind: 'validate', ...spec }),
    client.call('jobs.start', { kind: 'sweep', kValues: [64], ...spec }),
    client.call('jobs.startWithFiles', {
      spec: { kind: 'validate', ...spec },
      files: [{ name: 'a.npy', bytes: new Uint8Array(1) }]
    })
  ]
  for (const call of calls)
    await expect(call).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining('is a program')
    })
})

it('"Detect again" reads the folders of kernels again, and starts an engine that knows them', async () => {
  const kernels = join(folder, 'kernels')
  cpSync('test/gpu/kernels', kernels, { recursive: true })
  const configured: string[][] = []
  const engineHost = answeringEngine(({ method, input }) => {
    if (method === 'configure')
      configured.push((input as EngineOptions).kernelSources.map(({ id }) => id))
    return method === 'detect' ? { devices: [], libraries: [] } : {}
  })
  const own = createApplication({
    ...{ engineHost, storeFolder, kernelFolders: [kernels], appVersion: '0.0.0', host: 'test' },
    cacheFolder: join(folder, 'cache'),
    mayReadFiles: false
  })
  const page = connectInProcess(own.handlers)
  const detect = (refresh: boolean) => page.call('devices.detect', { refresh })
  expect((await detect(false)).warnings).toEqual([])
  await detect(true)
  expect(configured).toHaveLength(1)
  const path = join(kernels, 'manifest.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { kernels: object[] }
  manifest.kernels.push({ ...manifest.kernels[0], id: 'added-later' }, { id: 'broken' })
  writeFileSync(path, JSON.stringify(manifest))
  // Without being asked to, nothing is read again.
  await detect(false)
  expect(configured).toHaveLength(1)
  const { warnings } = await detect(true)
  expect(warnings).toEqual([expect.stringContaining('kernel "broken" is left out')])
  expect(configured).toHaveLength(2)
  expect(configured[1]).toEqual([...configured[0]!, 'added-later'])
  await own.close()
})
