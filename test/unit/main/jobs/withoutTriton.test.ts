import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { Device } from '@shared/contract/devices'
import { validateSpecSchema } from '@shared/contract/jobs'
import { stageOf } from '@shared/contract/kernelCost'
import * as v from 'valibot'
import { createApplication } from '../../../../src-main/jobs/handlers'
import { makeKernel } from '../../renderer/support/samples'
import { answeringEngine } from '../../../support/answeringEngine'

const folder = mkdtempSync(join(tmpdir(), 'without-triton-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const own = makeKernel('wgmma', () => 'exact', { provider: 'blockscope' })
/** Of the three the one whose time can be told: where C is e5m2, which the others do not write. */
const priced = makeKernel('priced', () => 'exact', {
  ...{ provider: 'blockscope', outputs: ['e5m2'] },
  features: [{ id: 'f8-output', level: 'fused', reason: '' }],
  model: {
    ...{ constants: {}, requires: [] },
    cost: { source: 'none', fixedNs: 1000, stages: [stageOf({ name: 'multiply', ns: '1000' })] }
  }
})
const triton = makeKernel('triton', () => 'exact', { provider: 'Triton' })
const deviceWith = (kernels: Device['kernels']): Device => ({
  ...{ id: 'cuda:0', kind: 'cuda', name: 'a GPU', architecture: 'sm_90', kernels },
  properties: { smCount: 132, clockMHz: 1980, memoryClockMHz: 3201, memoryBusBits: 6016 }
})
const cpu: Device = {
  ...{ id: 'cpu', kind: 'cpu', name: 'a CPU', architecture: 'x86-64', properties: {} },
  kernels: [makeKernel('cpu-portable', () => 'exact', { provider: 'blockscope' })]
}

/** How often an engine was asked for devices, with Triton and without, by jobs that are planned. */
async function asked(...specs: object[]): Promise<string[]> {
  const calls: string[] = []
  const engineHost = answeringEngine(({ method, input }) => {
    const { withoutTriton = false } = (input ?? {}) as { withoutTriton?: boolean }
    if (method === 'detect') calls.push(withoutTriton ? 'without' : 'with')
    const kernels = withoutTriton ? [own, priced] : [own, priced, triton]
    return { devices: [deviceWith(kernels), cpu], libraries: [] }
  })
  const application = createApplication({
    ...{ engineHost, storeFolder: folder, kernelFolders: [], appVersion: '0.0.0', host: 'test' },
    cacheFolder: join(folder, 'cache'),
    mayReadFiles: false
  })
  for (const spec of specs) {
    const job = v.parse(validateSpecSchema, { kind: 'validate', formats: ['mxfp4'], ...spec })
    await application.jobs.plan(job).catch((error: Error) => calls.push(error.message))
  }
  await application.close()
  return calls
}

it.each([
  ['kernels that are not its own', { kernels: ['WGMMA'] }, ['without']],
  ['providers without it', { providers: ['blockscope'] }, ['without']],
  [
    'providers without it, of which auto chooses',
    { kernels: ['auto'], providers: ['blockscope'] },
    ['without']
  ],
  ['the CPU', { device: 'cpu' }, ['without']],
  ['nothing', {}, ['with']],
  [
    'auto, and no kernel has a cost',
    { kernels: ['wgmma', 'auto'], device: 'cuda:0' },
    ['without', 'with']
  ],
  ['auto, and an exact kernel has a cost', { kernels: ['Auto'], output: 'e5m2' }, ['without']],
  [
    'auto beside one that only it has',
    { kernels: ['auto', 'triton'], output: 'e5m2' },
    ['without', 'with']
  ],
  ['its kernels too', { kernels: ['wgmma', 'triton'] }, ['without', 'with']],
  ['it', { providers: ['Triton'] }, ['without', 'with']]
])('a job that names %s', async (_what, spec, calls) => {
  expect(await asked(spec)).toEqual(calls)
})

it('what is known is not asked again, and a misspelt name is told with all that there is', async () => {
  expect(await asked({}, { kernels: ['wgmma'] })).toEqual(['with'])
  const [first, second, message] = await asked({ kernels: ['tritn'] })
  expect([first, second]).toEqual(['without', 'with'])
  expect(message).toContain('Did you mean triton?')
})
