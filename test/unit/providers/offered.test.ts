/** Files of Python kernels that a server was started with: a page has their kernels, and can name no other file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { forkedEngineHost } from '../../../src-main/engine/engineHost'
import { createApplication } from '../../../src-main/jobs/handlers'
import { connectInProcess } from '../../../src-main/transports/inProcess'
import { pythonHas } from '../../support/python'
import { runInProcess } from '../../support/runInProcess'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-offered-'))
const file = resolve('resources/providers/templates/numpy.py')
const missing = join(folder, 'missing.py')
const application = createApplication({
  engineHost: forkedEngineHost(resolve('out/node/engine.js')),
  storeFolder: join(folder, 'runs'),
  kernelFolders: [],
  cacheFolder: join(folder, 'cache'),
  providersFolder: resolve('resources/providers'),
  appVersion: '0.0.0',
  host: 'test',
  mayReadFiles: false,
  providerFiles: [file, missing]
})
const client = connectInProcess(application.handlers)
afterAll(async () => {
  await application.close()
  rmSync(folder, { recursive: true, force: true })
})
const small = { kind: 'validate', device: 'cpu', m: 64, n: 64, k: 128 } as const
const run = async (more: object) => {
  const { id } = await client.call('jobs.start', { ...small, formats: ['mxfp8'], ...more })
  await client.call('jobs.watch', { id })
  return client.call('runs.get', { id })
}

describe.skipIf(!pythonHas('numpy'))('a page', () => {
  it('has their kernels, and is told of a file that is not there', async () => {
    const { devices, warnings } = await client.call('devices.detect', {})
    const cpu = devices.find(({ id }) => id === 'cpu')!
    expect(cpu.kernels.at(-1)).toMatchObject({ id: 'my-kernel', provider: 'user' })
    expect(warnings).toEqual([`--provider ${missing} cannot be read.`])
  })

  it('runs them, records their file, and may ask for the same again', async () => {
    const first = await run({ kernels: ['my-kernel'] })
    expect(first.steps).toMatchObject([{ kernel: 'my-kernel', disposition: 'passed' }])
    expect(first.command).toContain(`--provider ${file}`)
    const again = await run({ kernels: ['my-kernel'], providerFiles: [file] })
    expect(again.steps).toMatchObject([{ disposition: 'passed' }])
    const others = await run({ kernels: ['cpu-portable'] })
    expect(others.command).not.toContain('--provider')
  })

  it('can name no other', async () => {
    const other = client.call('jobs.start', {
      ...{ ...small, formats: ['mxfp8'], providerFiles: [join(folder, 'mine.py')] }
    })
    await expect(other).rejects.toThrow(/is a program/)
  })

  it('is not served where one does not load', async () => {
    const broken = join(folder, 'broken.py')
    writeFileSync(broken, 'x = 1\n')
    const { code, stderr } = await runInProcess(['serve', '--no-open', '--provider', broken])
    expect(stderr).toMatch(/broken\.py has no class with detect, prepare and run\.$/m)
    expect(code).toBe(2)
  })
})
