/**
 * speedscope's own form, evented and sampled (https://www.speedscope.app/file-format-schema.json): py-spy, rbspy, async-profiler
 * and our own export. Several profiles of a file are scopes; events also are a timeline.
 */
import { UserError } from '../../errors'
import { countMetric, timeMetric } from '../tree/profileTree'
import { isObject, listOf, numberOr, parseJson, property, stringOr } from './jsonValue'
import type { OpenedProfile } from './reader'
import { StackTree, type StackFrame } from './stackTree'
import { nanosecondsOf } from './timeUnits'
import { TraceColumns } from './traceColumns'
import { timelineOf } from './traceTimeline'

/** How the exporter of a file that we wrote is named there. */
export const ownExporter = 'blockscope'

export function readSpeedscope(bytes: Uint8Array, fileName: string): OpenedProfile {
  const file = parseJson(bytes, fileName)
  const frames = listOf(property(property(file, 'shared'), 'frames')).map(frameOf)
  const profiles = listOf(property(file, 'profiles')).filter(isObject)
  if (profiles.length === 0)
    throw new UserError('usage', `${fileName}: the speedscope file has no "profiles".`)
  const reader = new SpeedscopeReader(fileName, frames, stringOr(property(file, 'exporter'), ''))
  profiles.forEach((profile, index) => reader.take(profile, index, profiles.length > 1))
  return reader.finish()
}

function frameOf(value: unknown): StackFrame {
  const file = stringOr(property(value, 'file'), '')
  const line = numberOr(property(value, 'line'), NaN)
  return {
    name: stringOr(property(value, 'name'), '(unnamed)'),
    ...(file !== '' && { file }),
    ...(Number.isInteger(line) && { line })
  }
}

class SpeedscopeReader {
  private readonly tree = new StackTree()
  private readonly events = new TraceColumns()

  constructor(
    private readonly fileName: string,
    private readonly frames: readonly StackFrame[],
    private readonly exporter: string
  ) {}

  take(profile: Record<string, unknown>, index: number, isOneOfSeveral: boolean): void {
    const name = stringOr(profile.name, '') || `profile ${index + 1}`
    const scope = isOneOfSeveral ? this.tree.child(0, -1 - index, { name }) : 0
    const { metric, factor } = this.metricOf(profile, name)
    if (profile.type === 'evented') this.takeEvents(profile, name, scope, metric, factor)
    else if (profile.type === 'sampled') this.takeSamples(profile, name, scope, metric, factor)
    else
      throw new UserError(
        'usage',
        `${this.fileName}: profile '${name}' is of type ${JSON.stringify(profile.type)?.slice(0, 40)}: evented and sampled are read.`
      )
  }

  finish(): OpenedProfile {
    const tree = this.tree.finish('speedscope', [])
    const columns = this.events.finish()
    const timeline = timelineOf(this.events, columns, this.tree.paths.order)
    return { tree, timeline: this.events.count > 0 ? timeline : null }
  }

  /** Values in the file's unit times the factor are of the metric. */
  private metricOf(
    profile: Record<string, unknown>,
    name: string
  ): { metric: string; factor: number } {
    const unit = stringOr(profile.unit, 'none')
    const factor = nanosecondsOf(unit)
    if (factor !== null) return { metric: timeMetric, factor }
    if (unit === 'bytes') return { metric: 'bytes', factor: 1 }
    return { metric: this.exporter === ownExporter ? name : 'weight', factor: 1 }
  }

  private takeSamples(
    profile: Record<string, unknown>,
    name: string,
    scope: number,
    metric: string,
    factor: number
  ): void {
    const weights = listOf(profile.weights)
    listOf(profile.samples).forEach((stack, at) => {
      let node = scope
      for (const frame of listOf(stack)) node = this.child(node, frame, name)
      this.tree.add(node, metric, numberOr(weights[at], NaN) * factor || 0)
      this.tree.add(node, 'samples', 1)
    })
  }

  private takeEvents(
    profile: Record<string, unknown>,
    name: string,
    scope: number,
    metric: string,
    factor: number
  ): void {
    const lane = this.events.lane(name, '')
    const open: { frame: unknown; node: number; at: number }[] = []
    let last = numberOr(profile.startValue, 0) * factor
    for (const event of listOf(profile.events)) {
      const at = numberOr(property(event, 'at'), NaN) * factor
      const frame = property(event, 'frame')
      const type = property(event, 'type')
      if (Number.isNaN(at) || at < last)
        this.fail(name, 'an event without a time, or before the one ahead of it')
      const top = open[open.length - 1]
      if (top && at > last) this.tree.add(top.node, metric, at - last)
      last = at
      if (type === 'O') {
        const node = this.child(top?.node ?? scope, frame, name)
        open.push({ frame, node, at })
        if (this.exporter !== ownExporter) this.tree.add(node, countMetric, 1)
      } else if (type !== 'C' || top?.frame !== frame)
        this.fail(name, 'an event that closes another frame than the one that is open')
      else {
        open.pop()
        this.addSlice(frame as number, lane, top!.node, top!.at, at)
      }
    }
    if (open.length > 0) this.fail(name, 'frames that are never closed')
  }

  private addSlice(frame: number, lane: number, node: number, start: number, end: number): void {
    this.events.add({
      name: this.frames[frame]!.name,
      category: '',
      lane,
      startNs: start,
      durationNs: end - start,
      node,
      correlation: NaN,
      externalId: NaN,
      bytes: NaN,
      facts: ''
    })
  }

  private child(parent: number, frame: unknown, profile: string): number {
    const found = typeof frame === 'number' ? this.frames[frame] : undefined
    if (!found) this.fail(profile, `a frame ${String(frame)} of ${this.frames.length}`)
    return this.tree.child(parent, frame as number, found)
  }

  private fail(profile: string, what: string): never {
    throw new UserError('usage', `${this.fileName}: profile '${profile}' has ${what}.`)
  }
}
