/** AMD GPUs are seen on the PCI bus and listed with the reason that nothing runs on them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { amdDevices } from '../../../../src-main/engine/amdDevices'
import { runInProcess } from '../../../support/runInProcess'

const bus = mkdtempSync(join(tmpdir(), 'blockscope-pci-'))
afterAll(() => rmSync(bus, { recursive: true }))

/** As Linux writes them: hexadecimal, a line each. */
function put(address: string, facts: Record<string, string>): void {
  mkdirSync(join(bus, address))
  for (const [name, value] of Object.entries(facts))
    writeFileSync(join(bus, address, name), `${value}\n`)
}
put('0000:03:00.0', { vendor: '0x1002', class: '0x030000', device: '0x744c' })
put('0000:c1:00.0', {
  ...{ vendor: '0x1002', class: '0x120000', device: '0x74a1' },
  product_name: 'AMD Instinct MI300X'
})
// Its sound device, another maker's GPU, a CPU's bridge, and one that tells nothing.
put('0000:03:00.1', { vendor: '0x1002', class: '0x040300', device: '0xab30' })
put('0000:04:00.0', { vendor: '0x10de', class: '0x030200', device: '0x2335' })
put('0000:00:00.0', { vendor: '0x1022', class: '0x060000', device: '0x14d8' })
put('0000:00:01.0', {})

const libraries = [
  {
    name: 'HIP runtime',
    found: false,
    version: '',
    path: '',
    reason: 'HIP runtime was not found on this machine.',
    remedy: 'Install ROCm.'
  }
]
const nothing = { devices: [], libraries }

it('lists display controllers and accelerators of AMD, and nothing else', () => {
  expect(amdDevices(nothing, bus)).toMatchObject([
    { id: 'hip:0', kind: 'hip', name: 'AMD GPU (PCI 1002:744c)', kernels: [] },
    { id: 'hip:1', name: 'AMD Instinct MI300X', properties: { pciAddress: '0000:c1:00.0' } }
  ])
  expect(amdDevices(nothing, bus)[0]!.properties.problem).toBe(
    'HIP runtime was not found on this machine. Install ROCm.'
  )
  expect(amdDevices(nothing, join(bus, 'none'))).toEqual([])
})

it('leaves them to HIP where that offers any', () => {
  const [first] = amdDevices(nothing, bus)
  expect(amdDevices({ devices: [first!], libraries }, bus)).toEqual([])
})

it('a job for one says why it cannot run, with exit code 3', async () => {
  const { code, stderr } = await runInProcess(['validate', '--device', 'hip:9'])
  expect(stderr).toMatch(/There is no device hip:9 here\.( (The )?HIP runtime .*)? Devices here: /)
  expect(code).toBe(3)
})
