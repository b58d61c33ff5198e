/** What reaches the terminal: text of files never moves its cursor, sets its title or fakes a line. */
import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { plainLine } from '@shared/plainLine'
import { runInProcess } from '../../../support/runInProcess'
import { sampleRun, sampleStep } from '../../../support/sampleRun'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-terminal-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Sets a title, clears the screen, goes back over the line, a C1 control, a turn of direction, and a line of its own. */
const hostile = 'k\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202eevil\nROOT faked'
const obeyed = /[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/

it('controls are shown as escapes, other text as it is', () => {
  expect(plainLine(hostile)).toBe('k\\x1b]0;owned\\x07\\x1b[2J\\r\\x9b31m\\u202eevil\\nROOT faked')
  expect(plainLine('矩陣 × µs "é"')).toBe('矩陣 × µs "é"')
})

describe('names out of files', () => {
  const profile = join(folder, `profile.hatchet`)
  const leaf = { frame: { name: hostile, type: 'function' }, metrics: { 'time (ns)': 5 } }
  const root = { frame: { name: 'ROOT', type: 'function' }, metrics: {}, children: [leaf] }
  writeFileSync(profile, JSON.stringify([root]))
  const store = join(folder, 'store')
  const put = async () => {
    const run = sampleRun({
      label: hostile,
      reason: hostile,
      command: hostile,
      events: [{ at: hostile, message: hostile }],
      steps: [sampleStep(0, { kernel: hostile, reason: hostile, disposition: 'error' })]
    })
    writeFileSync(join(folder, 'run.json'), JSON.stringify(run))
    await runInProcess(['runs', 'import', join(folder, 'run.json'), '--store', store])
    return run.id
  }
  const header = { [hostile]: { dtype: 'F32', shape: [1], data_offsets: [0, 4] } }
  const json = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  const checkpoint = join(folder, 'c.safetensors')
  writeFileSync(checkpoint, Buffer.concat([length, json, Buffer.alloc(4)]))

  it.each([
    ['view', ['view', profile]],
    ['view as JSON', ['view', profile, '--json']],
    ['view --flat', ['view', profile, '--flat']],
    ['view --print-sorted', ['view', profile, '--print-sorted']],
    ['view --proton', ['view', profile, '--proton', '-m', 'time/ns', '--print-sorted']],
    ['view -i', ['view', profile, '-i', hostile]],
    ['top', ['top', profile]],
    ['diff', ['diff', profile, profile]],
    ['checkpoint list', ['checkpoint', 'list', checkpoint]],
    ['runs list', ['runs', 'list', '--store', store]],
    ['runs show', ['runs', 'show', 'ID', '--store', store, '--advice']]
  ])('%s', async (_name, words) => {
    const id = await put()
    const { stdout, stderr } = await runInProcess(words.map((word) => (word === 'ID' ? id : word)))
    expect(stdout + stderr).toContain('owned')
    expect(stdout + stderr).not.toMatch(obeyed)
    expect(stdout).not.toMatch(/^ROOT faked/m)
  })

  it('JSON reads back as it was', async () => {
    const { stdout } = await runInProcess(['view', profile, '--json', '--no-demangle'])
    const { rows } = JSON.parse(stdout) as { rows: { name: string }[] }
    expect(rows.map(({ name }) => name)).toContain(hostile)
  })

  it('errors name them too', async () => {
    const missing = await runInProcess(['view', join(folder, hostile)])
    expect(missing.code).toBe(2)
    expect(missing.stderr).not.toMatch(obeyed)
    expect(missing.stderr.trimEnd().split('\n')).toHaveLength(1)
    const flag = await runInProcess(['view', profile, `--${hostile}`])
    expect(flag.stderr).not.toMatch(obeyed)
  })
})

describe('standard output that cannot be written', () => {
  const printedTo = (descriptor: number | 'pipe', words: string[]) =>
    new Promise<{ code: number | null; stderr: string }>((resolve) => {
      const child = spawn(process.execPath, ['out/node/blockscope.js', ...words], {
        stdio: ['ignore', descriptor, 'pipe']
      })
      let stderr = ''
      child.stdout?.destroy()
      child.stderr!.on('data', (data) => (stderr += data))
      child.on('close', (code) => resolve({ code, stderr }))
    })

  it.runIf(process.platform === 'linux')('full: one sentence and exit code 1', async () => {
    const { code, stderr } = await printedTo(openSync('/dev/full', 'w'), ['formats'])
    expect(stderr).toBe('blockscope: standard output cannot be written: the disk is full.\n')
    expect(code).toBe(1)
  })

  it('a reader that went away: silence and exit code 0', async () => {
    expect(await printedTo('pipe', ['layout', 'list', '--json'])).toEqual({ code: 0, stderr: '' })
  })
})
