/** One job after the other on a real engine: a job that waits, and is no longer wanted. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { JobSpecInput } from '@shared/contract/jobs'
import { forkedEngineHost } from '../../../../src-main/engine/engineHost'
import { createApplication } from '../../../../src-main/jobs/handlers'
import { connectInProcess } from '../../../../src-main/transports/inProcess'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-queue-'))
const application = createApplication({
  engineHost: forkedEngineHost(resolve('out/node/engine.js')),
  storeFolder: join(folder, 'runs'),
  kernelFolders: [],
  cacheFolder: join(folder, 'cache'),
  appVersion: '0.0.0',
  host: 'test',
  mayReadFiles: false
})
const client = connectInProcess(application.handlers)
afterAll(async () => {
  await application.close()
  rmSync(folder, { recursive: true })
})

it('a job that is cancelled before its turn ends at once, and the one before it goes on', async () => {
  // So large that it is at work until it is cancelled.
  const long: JobSpecInput = {
    kind: 'validate',
    device: 'cpu',
    formats: ['mxfp4'],
    m: 4096,
    n: 4096,
    k: 4096
  }
  const first = await client.call('jobs.start', long)
  const second = await client.call('jobs.start', long)
  const waiting = client.call('jobs.watch', { id: second.id })
  await client.call('jobs.cancel', { id: second.id })
  expect(await waiting).toMatchObject({ id: second.id, status: 'cancelled' })
  expect(await client.call('jobs.list', {})).toMatchObject([{ id: first.id, status: 'running' }])
  const stored = await client.call('runs.get', { id: second.id })
  expect(stored).toMatchObject({
    status: 'cancelled',
    reason: 'Cancelled before it began.',
    steps: []
  })
  await client.call('jobs.cancel', { id: first.id })
  expect(await client.call('jobs.watch', { id: first.id })).toMatchObject({ status: 'cancelled' })
})
