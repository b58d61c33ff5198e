/** doctor through the real program, on the CPU: the only device that every machine has. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Target } from '@shared/contract/devices'
import type { DeviceReport } from '@shared/contract/deviceReport'
import { blockFormats } from '@shared/formats/blockFormat'
import { runInProcess } from '../../../support/runInProcess'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-doctor-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const at = (name: string) => join(folder, name)
const output = at('report.json')
const here = ['--store', at('store')]

/** What devices says of the CPU's kernels by the reports that are kept in a store. */
async function stateOfCpu(store: string): Promise<string> {
  const { stdout } = await runInProcess(['devices', '--json'], { BLOCKSCOPE_STORE: store })
  const { targets } = JSON.parse(stdout) as { targets: Target[] }
  const cpu = targets.find(({ architecture }) => architecture.startsWith('x86-64'))!
  return `${cpu.state}: ${cpu.note}`
}

describe.runIf(process.arch === 'x64')('doctor', () => {
  it('examines the CPU, and its file proves a target here and, sent, elsewhere', async () => {
    const done = await runInProcess(['doctor', '--device', 'cpu', '--output', output, ...here])
    expect(done).toMatchObject({ code: 0 })
    expect(done.stdout).toMatch(/^Device {6}.+ \(cpu, x86-64/)
    expect(done.stdout).toMatch(/^Library {5}NVRTC /m)
    expect(done.stdout).toMatch(/^Emulation {3}no kernel here uses a block-scaled instruction/m)
    expect(done.stdout).toMatch(/^Validation {2}(\d+) of \1 passed/m)
    expect(done.stdout).toMatch(/^Sweep {7}mxfp4 cpu-\w+ [\d.]+ TFLOP\/s at 256 x 256 x 256$/m)
    expect(done.stdout).toContain(`Report: ${output}.`)

    const text = readFileSync(output, 'utf8')
    const report = JSON.parse(text) as DeviceReport
    expect(report.validation!.host.name).toBe('')
    const digests = report
      .validation!.steps.filter(({ kernel }) => kernel === 'cpu-portable')
      .map(({ validation }) => validation!.outputDigest)
    expect(new Set(digests).size).toBe(blockFormats.length)
    for (const secret of [homedir(), hostname()])
      if (secret.length > 3) expect(text).not.toContain(secret)

    expect(await stateOfCpu(at('store'))).toMatch(
      new RegExp(`^run-here: ${blockFormats.length} formats passed on `)
    )
    const added = await runInProcess(['doctor', '--add', output, '--store', at('other')])
    expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/: kept\.\n$/) })
    expect(await stateOfCpu(at('other'))).toMatch(
      new RegExp(`^run: ${blockFormats.length} formats passed on .* \\(report\\.json\\)\\.$`)
    )
  })

  it.each([
    [
      'a device that is not there',
      ['--device', 'cuda:9'],
      3,
      /There is no device cuda:9 here\..* Devices here: cpu/
    ],
    ['a file that is there', ['--device', 'cpu', '--output', at('there.json')], 2, /there\.json/],
    [
      'a report that cannot be read',
      ['--add', at('nowhere.json')],
      2,
      /nowhere\.json does not exist/
    ],
    [
      'a file that is not JSON',
      ['--add', at('there.json')],
      2,
      /no report of a device: it is not JSON/
    ],
    [
      'another kind of file',
      ['--add', 'package.json'],
      2,
      /package\.json is no report of a device: at /
    ]
  ])('%s is one sentence', async (_what, flags, code, sentence) => {
    writeFileSync(at('there.json'), 'mine')
    const refused = await runInProcess(['doctor', ...flags, '--store', at('none')])
    expect(refused).toMatchObject({ code, stderr: expect.stringMatching(sentence) })
    expect(refused.stderr.trim().split('\n')).toHaveLength(1)
    expect(readFileSync(at('there.json'), 'utf8')).toBe('mine')
    expect(existsSync(join(at('none'), '.devices'))).toBe(false)
  })

  it('two reports of one name are not mixed up', async () => {
    const store = ['--store', at('twice')]
    const other = { ...(JSON.parse(readFileSync(output, 'utf8')) as DeviceReport), appVersion: '9' }
    await runInProcess(['doctor', '--add', output, ...store])
    writeFileSync(output, JSON.stringify(other))
    expect(await runInProcess(['doctor', '--add', output, ...store])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /Another report is kept as .*report\.json; give this file another name/
      )
    })
  })
})
