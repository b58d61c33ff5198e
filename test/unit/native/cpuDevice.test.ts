/** What the CPU says of itself in a detection, and so in every run. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadTestAddon } from '../../support/addon'

const addon = loadTestAddon()
const cpu = (await addon.detect()).devices.find(({ id }) => id === 'cpu')!

describe('the CPU as a device', () => {
  it('names the code its kernels are built from: the hash of the sources at hand', () => {
    const files = ['core', 'cpu']
      .flatMap((folder) => readdirSync(`native/${folder}`).map((name) => `${folder}/${name}`))
      // Of a kernel for GPUs, whose sums cpu-blackwell makes.
      .concat(
        ['form', 'number', 'sum'].map(
          (name) => `../resources/kernels/cuda/common/blockScale/${name}.cuh`
        )
      )
      .sort()
    const hash = createHash('sha256')
    for (const file of files) {
      const text = readFileSync(`native/${file}`, 'utf8').replaceAll('\r\n', '\n')
      hash.update(`${file}\0${text}\0`)
    }
    const expected = hash.digest('hex')
    // Another hash: the addon is older than the sources, and "npm run build:native" is due.
    const told = cpu.kernels.map(({ identity }) => new TextDecoder().decode(identity))
    expect(told).toEqual(cpu.kernels.map(() => expected))
    expect(cpu.kernels[0]!.compileOptions).toMatch(/compiler/)
  })

  it.skipIf(process.platform !== 'linux')('tells its clock only where it is measured', () => {
    const measured = /^flags\s*:.*\baperfmperf\b/m.test(readFileSync('/proc/cpuinfo', 'utf8'))
    expect('clockMHz' in cpu.properties).toBe(measured)
  })
})
