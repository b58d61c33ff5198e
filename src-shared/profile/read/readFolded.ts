/**
 * Folded stacks, 'a;b;c 123' per line: Brendan Gregg's stackcollapse scripts, perf, py-spy, inferno, async-profiler. Read
 * line by line as it streams in. What the values count is not in the file: they are samples unless told otherwise.
 */
import { UserError } from '../../errors'
import { profileLimits } from '../tree/limits'
import type { FileHead } from './fileHead'
import type { OpenedProfile, Parser } from './reader'
import { StackTree } from './stackTree'

export const foldedMetric = 'samples'
const foldedLine = /^(.*\S)\s+(\d+(?:\.\d+)?)\s*$/
/** Lines looked at to tell the form. */
const linesOfHead = 50

/** Whether all whole lines of the beginning are stacks with a value, and some stack has more than one frame. */
export function isFolded(head: FileHead): boolean {
  if (/^\s*[[{]\s*["[{}\]\d-]/.test(head.text) || head.text.includes('\0')) return false
  const lines = head.text.split('\n', linesOfHead + 1)
  // The last one may be cut.
  const whole = head.isWhole && lines.length <= linesOfHead ? lines : lines.slice(0, -1)
  const stacks = whole.filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return (
    stacks.length > 0 &&
    stacks.every((line) => foldedLine.test(line)) &&
    stacks.some((line) => line.includes(';'))
  )
}

export class FoldedParser implements Parser {
  private readonly decoder = new TextDecoder()
  private readonly tree = new StackTree()
  private readonly frames = new Map<string, number>()
  private left = ''
  private line = 0
  private passed = 0
  private stacks = 0

  constructor(private readonly fileName: string) {}

  write(chunk: Uint8Array): void {
    const lines = (this.left + this.decoder.decode(chunk, { stream: true })).split('\n')
    this.left = lines.pop()!
    if (this.left.length > 16 * profileLimits.stringBytes)
      throw new UserError('usage', `${this.fileName}: line ${this.line + 1} is longer than 16 MiB.`)
    for (const line of lines) this.takeLine(line)
  }

  finish(): OpenedProfile {
    this.takeLine(this.left + this.decoder.decode())
    if (this.stacks === 0)
      throw new UserError(
        'usage',
        `${this.fileName}: no line is a stack with a value, 'a;b;c 123'.`
      )
    const notes = [
      `What the values count is not in a folded file: they are called ${foldedMetric}.`
    ]
    if (this.passed > 0) notes.push(`${this.passed} lines that are no stacks were passed over.`)
    return { tree: this.tree.finish('folded', notes), timeline: null }
  }

  private takeLine(line: string): void {
    this.line++
    if (line.trim() === '' || line.startsWith('#')) return
    const found = foldedLine.exec(line)
    const value = Number(found?.[2])
    if (!found || !Number.isFinite(value)) {
      this.passed++
      return
    }
    let node = 0
    for (const name of found[1]!.split(';'))
      node = this.tree.child(node, this.frame(name), { name })
    this.tree.add(node, foldedMetric, value)
    this.stacks++
  }

  private frame(name: string): number {
    let frame = this.frames.get(name)
    if (frame === undefined) this.frames.set(name, (frame = this.frames.size))
    return frame
  }
}
