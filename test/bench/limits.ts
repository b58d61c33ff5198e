/**
 * What must stay linear, held to its time: `npm run bench:limits` (-- --check exits 1 when a limit is missed). Commands on a profile of
 * 20,000 levels, process and all, and the table of a file of scales in the Layouts view, every cell of 64 KiB read. That
 * their work is linear, whatever the machine, test/unit/shared/profile/depth.test.ts and test/unit/renderer/layouts hold.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { numberFormats } from '@shared/formats/numberFormat'
import { findLayout } from '@shared/layouts/registry'
import { decodeBytes } from '../../src-renderer/views/layouts/scaleBytes'

const levels = 20_000
const repetitions = 5

interface Limit {
  what: string
  ms: number
  allowedMs: number
}

const timed = (work: () => void): number => {
  const began = performance.now()
  work()
  return performance.now() - began
}

function chain(): string {
  const open = Array.from(
    { length: levels },
    (_, level) =>
      `{"frame":{"name":"f${level}","type":"function"},"metrics":{"time (ns)":1,"count":1},"children":[`
  )
  return `[${open.join('')}${']}'.repeat(levels)}]`
}

function commands(folder: string): Limit[] {
  const file = join(folder, 'deep.hatchet')
  const written = join(folder, 'written')
  writeFileSync(file, chain())
  const lines = [
    ['view', file],
    ['view', file, '--inverted'],
    ['top', file],
    ['diff', file, file],
    ...['folded', 'speedscope', 'csv'].map((to) => ['convert', file, written, '--to', to])
  ]
  return lines.map((words) => {
    rmSync(written, { force: true })
    const ms = timed(() => {
      // What it prints stays bytes: to make text of them is no work of the command's.
      const { status, stderr } = spawnSync(process.execPath, ['out/node/blockscope.js', ...words], {
        maxBuffer: 2 ** 30
      })
      if (status !== 0) throw new Error(`blockscope ${words.join(' ')}: ${stderr.toString()}`)
    })
    const said = words.map((word) => word.replace(`${folder}/`, '')).join(' ')
    return { what: `${levels} levels: ${said}`, ms, allowedMs: 2000 }
  })
}

function scaleTable(): Limit {
  const shape = { rows: 1024, columns: 64 }
  const bytes = Uint8Array.from({ length: shape.rows * shape.columns }, (_, at) => at & 255)
  let letters = 0
  const times = Array.from({ length: repetitions }, () =>
    timed(() => {
      const rows = decodeBytes(
        bytes,
        numberFormats.e8m0,
        findLayout('nvidia_32_4_4'),
        shape,
        bytes.length
      )
      for (const { hex, value, packed, linear } of rows)
        letters += `${hex}${value}${packed}${linear}`.length
    })
  ).sort((one, other) => one - other)
  if (letters === 0) throw new Error('The table is empty.')
  const ms = times[times.length >> 1]!
  return { what: `${bytes.length} bytes of scales: every cell of their table`, ms, allowedMs: 50 }
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const folder = mkdtempSync(join(tmpdir(), 'blockscope-limits-'))
try {
  for (const { what, ms, allowedMs } of [scaleTable(), ...commands(folder)]) {
    const verdict = ms < allowedMs ? 'holds' : 'FAILS'
    console.log(`${verdict}: ${ms.toFixed(0).padStart(5)} of ${allowedMs} ms  ${what}`)
    if (values.check && ms >= allowedMs) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true })
}
