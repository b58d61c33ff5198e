/** Files of Python kernels that a server was started with: a page has their kernels, and can name no other file. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { forkedEngineHost } from '../../../src-main/engine/engineHost'
import { createApplication, type ApplicationOptions } from '../../../src-main/jobs/handlers'
import type { TakeProvider } from '../../../src-main/jobs/pythonFile'
import { connectInProcess } from '../../../src-main/transports/inProcess'
import { pythonHas } from '../../support/python'
import { runInProcess } from '../../support/runInProcess'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-offered-'))
const file = resolve('resources/providers/templates/numpy.py')
const missing = join(folder, 'missing.py')
const applicationWith = (more: Partial<ApplicationOptions>) =>
  createApplication({ ...options, ...more })
const options: ApplicationOptions = {
  engineHost: forkedEngineHost(resolve('out/node/engine.js')),
  storeFolder: join(folder, 'runs'),
  kernelFolders: [],
  cacheFolder: join(folder, 'cache'),
  providersFolder: resolve('resources/providers'),
  appVersion: '0.0.0',
  host: 'test',
  mayReadFiles: false
}
const application = applicationWith({ providerFiles: [file, missing] })
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
    expect(warnings).toEqual([`--provider ${missing} does not exist.`])
  })

  it('runs them, records their file, and may ask for the same again', async () => {
    const first = await run({ kernels: ['my-kernel'] })
    expect(first.steps).toMatchObject([{ kernel: 'my-kernel', disposition: 'passed' }])
    // Runs are shared and committed: where this folder lies is no part of one.
    const recorded = 'resources/providers/templates/numpy.py'
    expect(first.command).toContain(` --provider ${recorded} `)
    expect(first.spec.providerFiles).toEqual([recorded])
    expect(first.libraries.map(({ path }) => path)).toContain(recorded)
    expect(JSON.stringify(first)).not.toContain(process.cwd())
    const again = await run({ kernels: ['my-kernel'], providerFiles: first.spec.providerFiles })
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

describe.skipIf(!pythonHas('numpy'))('the app', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const kernel = (id: string) => bytes(readFileSync(file, 'utf8').replace('"my-kernel"', `"${id}"`))
  const kept = join(folder, 'kept.py')
  let allows = true
  const takeProvider: TakeProvider = async (given) => {
    if (!allows || !given) return undefined
    writeFileSync(kept, given.bytes)
    return kept
  }
  const app = applicationWith({ takeProvider })
  afterAll(() => app.close())
  const page = connectInProcess(app.handlers)
  const add = (text: Uint8Array<ArrayBuffer>) =>
    page.call('providers.add', { file: { name: 'kept.py', bytes: text } })
  const own = async () => {
    const { devices } = await page.call('devices.detect', {})
    return devices.flatMap(({ kernels }) =>
      kernels.flatMap(({ id, provider }) => (provider === 'user' ? [id] : []))
    )
  }

  it('takes a file that its person allows, as it is now when it comes again', async () => {
    const { file: path, detection } = await add(kernel('first'))
    expect(path).toBe(kept)
    expect(detection!.libraries.at(-1)).toMatchObject({ name: 'kept.py', path: kept })
    expect(await own()).toEqual(['first'])
    await add(kernel('second'))
    expect(await own()).toEqual(['second'])
    const spec = { ...small, formats: ['mxfp8'], kernels: ['second'] }
    const { id } = await page.call('jobs.start', spec)
    await page.call('jobs.watch', { id })
    const { steps, command } = await page.call('runs.get', { id })
    expect(steps).toMatchObject([{ kernel: 'second', disposition: 'passed' }])
    expect(command).toContain(`--provider ${kept}`)
  })

  it('adds nothing that they do not allow, and nothing of a file that is wrong', async () => {
    const before = await own()
    allows = false
    expect(await add(kernel('third'))).toEqual({})
    allows = true
    await expect(add(bytes('x = 1'))).rejects.toThrow(
      'kept.py has no class with detect, prepare and run.'
    )
    expect(await own()).toEqual(before)
    for (const name of ['../kept.py', 'kept.txt', '.py', 'a\\b.py'])
      await expect(
        page.call('providers.add', { file: { name, bytes: bytes('') } })
      ).rejects.toThrow('is called NAME.py')
  })

  it('that asks nobody takes none', async () => {
    const refused = client.call('providers.add', {})
    await expect(refused).rejects.toThrow(/is a program: the desktop app of this machine takes one/)
  })
})
