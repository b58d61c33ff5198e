/** A conversion that was killed or stopped goes on where it was, and ends with the same bytes. */
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { runBlockscope, startBlockscope } from '../../../support/runBlockscope'
import { writeCheckpoint } from '../../../support/writeCheckpoint'

const folder = mkdtempSync(join(tmpdir(), 'checkpoint-resume-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

// Many weights are many steps: the work lasts, whatever the machine.
const [rows, k] = [16, 512]
const bytes = new Uint8Array(
  Uint16Array.from({ length: rows * k }, (_, i) => 0x3c00 + ((i * 2654435761) % 1024)).buffer
)
const source = at('source.safetensors')
writeCheckpoint(
  source,
  Array.from({ length: 800 }, (_, i) => ({
    name: `layers.${i}.up.weight`,
    dtype: 'BF16',
    shape: [rows, k],
    bytes
  }))
)
const convert = (out: string, ...more: string[]) => [
  ...['checkpoint', 'convert', source, '--to', 'modelopt-nvfp4', '--requantise'],
  ...['--out', at(out), '--json', ...more]
]
const journalOf = (out: string) => at(`${out}.partial.journal`)

/** Starts it and waits for the first step in the journal. */
async function started(out: string) {
  const program = startBlockscope(convert(out))
  while (!existsSync(journalOf(out)) || !readFileSync(journalOf(out), 'utf8').includes('"step"')) {
    await sleep(1)
  }
  expect(existsSync(at(out))).toBe(false)
  return program
}

const whole = runBlockscope(convert('whole'))

async function expectFinishes(out: string): Promise<void> {
  const { code, stdout } = await runBlockscope(convert(out))
  expect(code).toBe(0)
  expect((JSON.parse(stdout) as { resumedAt: number }).resumedAt).toBeGreaterThan(0)
  expect((await whole).code).toBe(0)
  expect(readFileSync(at(out)).equals(readFileSync(at('whole')))).toBe(true)
  for (const left of [`${out}.partial`, `${out}.partial.journal`]) {
    expect(existsSync(at(left))).toBe(false)
  }
}

describe.skipIf(process.platform === 'win32')('checkpoint convert', () => {
  it('goes on after kill -9, also twice', async () => {
    for (let kills = 0; kills < 2; kills++) {
      const program = await started('killed')
      program.signal('SIGKILL')
      await program.done
      expect(existsSync(at('killed'))).toBe(false)
    }
    await expectFinishes('killed')
  })

  it('goes on after Ctrl-C, which says so', async () => {
    const program = await started('stopped')
    program.signal('SIGINT')
    const { code, stderr } = await program.done
    expect(code).toBe(130)
    expect(stderr).toContain(`What is done is kept in ${at('stopped')}.partial`)
    await expectFinishes('stopped')
  })

  it('refuses to go on with what another command or other files began', async () => {
    const program = await started('other')
    expect((await runBlockscope(convert('other'))).stderr).toContain(
      `is being written by process ${program.pid}`
    )
    program.signal('SIGKILL')
    await program.done
    const { code, stderr } = await runBlockscope(convert('other', '--rule', 'ceil'))
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('was begun by another command or from other files')
    ])
    utimesSync(source, new Date(), new Date(0))
    expect((await runBlockscope(convert('other'))).stderr).toContain('from other files')
    const forced = await runBlockscope(convert('other', '--rule', 'ceil', '--force'))
    expect(forced.code).toBe(0)
    expect((JSON.parse(forced.stdout) as { resumedAt: number }).resumedAt).toBe(0)
  })
})
