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

  it.skipIf(process.arch !== 'x64')('takes as many operand sets as launches need', async () => {
    const operands = { distribution: 'normal', seed: 1 }
    const flag = addon.createCancelFlag()
    const session = await addon.open(
      { device: 'cpu', format: 'mxfp4', m: 16, n: 16, k: 64, output: 'f16', operands },
      flag
    )
    const request = {
      ...{ kernel: 'cpu-portable', warmupLaunches: 1, warmupNs: 0, minSamples: 1, minTimeNs: 0 },
      ...{ maxRelativeStdev: 1, maxSamples: 1000, timeoutNs: 1e9, sustainedNs: 0 },
      ...{ recordLaunches: false, companions: 0 }
    }
    const sets = async (fixedSamples: number, cold = true) => {
      const { operandSets, cacheMode } = await session.measure(
        { ...request, cold, fixedSamples },
        flag
      )
      return [operandSets, cacheMode]
    }
    // Any machine's caches hold more of these; made are as many as there were, at least four.
    expect(await sets(3)).toEqual([4, 'cold: 4 operand sets'])
    expect(await sets(4)).toEqual([8, 'cold: 8 operand sets'])
    expect(await sets(30)).toEqual([32, 'cold: 32 operand sets'])
    expect(await sets(30, false)).toEqual([1, 'hot'])
    await session.close()
  })

  it.skipIf(process.platform !== 'linux')('tells its clock only where it is measured', () => {
    const measured = /^flags\s*:.*\baperfmperf\b/m.test(readFileSync('/proc/cpuinfo', 'utf8'))
    expect('clockMHz' in cpu.properties).toBe(measured)
  })
})
