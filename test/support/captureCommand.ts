/** `blockscope capture` as the real program, of a program on stand-ins of driver and CUPTI. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { CaptureRecord } from '../../src-main/capture/captureRecord'
import { stubCupti, stubProgram } from './captureStubs'
import { runBlockscope } from './runBlockscope'

export const environment = { BLOCKSCOPE_CUDA_PATH: stubCupti }

/** What the program does where every kind of work is to be captured; it ends with 3. */
export const everyWork = [
  ...['print:from the program', 'push:step', 'launch:gemm:50:20', 'pop', 'launch:relu:30'],
  ...['copy:4096', 'push:replay', 'graph:4:10', 'pop', 'fail', 'exit:3']
]

export const recordOf = (out: string) =>
  JSON.parse(readFileSync(join(out, 'capture.json'), 'utf8')) as CaptureRecord

/** Captures into folders of one place, which goes when the tests around have ended. */
export function capturesInOnePlace() {
  let place = ''
  let captures = 0
  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), 'blockscope-capture-cli-'))
  })
  afterAll(() => rmSync(place, { recursive: true, force: true }))

  const within = (name: string) => join(place, name)
  const newFolder = () => within(`capture-${captures++}`)
  async function capture(words: readonly string[], flags: readonly string[] = []) {
    const out = newFolder()
    const command = ['capture', '--out', out, ...flags, '--', stubProgram, ...words]
    return { out, ...(await runBlockscope(command, environment)) }
  }
  return { within, newFolder, capture }
}

export interface Trace {
  traceEvents: { name: string; ph: string; sf?: string }[]
  stackFrames: Record<string, { name: string; parent?: string }>
}

export interface HatchetNode {
  frame: { name: string; type: string }
  metrics: Record<string, unknown>
  children: HatchetNode[]
}
