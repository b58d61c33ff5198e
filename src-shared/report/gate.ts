/** A gate as text, Markdown, JUnit XML, and in the form that PyTorch's benchmark dashboard reads. */
import type { BaselinePoint, GatePoint, GateResult } from '../contract/gate'
import { deviceStateText } from '../contract/deviceState'
import { isPassed } from '../measurement/gateResult'
import { changeOf, powerText } from '../measurement/gateVerdict'
import { extentsName, problemText } from '../measurement/problemText'
import { median } from '../measurement/statistics'
import { junitXml } from './junitSuites'

/** 'wgmma@base, wgmma@new' is 'wgmma'; two different kernels are both named. */
export function kernelText({ base, new: tested }: GatePoint): string {
  const [before, after] = [base.kernel, tested.kernel].map((id) => id.replace(/@(base|new)$/, ''))
  return before === after ? before! : `${before} -> ${after}`
}

const medianOf = (samplesNs: readonly number[][]) => median(samplesNs.map((visit) => median(visit)))

const intervalText = ({ estimate: { low, high } }: GatePoint): string =>
  low === undefined || high === undefined ? '-' : `${changeOf(low)} to ${changeOf(high)}`

const ratioText = ({ estimate: { ratio } }: GatePoint): string =>
  ratio === undefined ? '-' : changeOf(ratio)

/** 95 % of all points together. */
const shareText = (share: number) => `${Number((share * 100).toPrecision(4))} %`

/** What was compared how, before the points. */
export function gateHead(gate: GateResult): string[] {
  const { base, new: tested, how, device, confidence, margin, mode, output } = gate
  return [
    `${tested} against ${base}, ${mode}, output ${output}, on ${deviceStateText(device)}.`,
    `${how[0]!.toUpperCase()}${how.slice(1)}.`,
    `Confidence ${shareText(confidence)} over all points, margin ${shareText(margin)}.`
  ]
}

export function gateLines(gate: GateResult): string[] {
  const points = gate.points.flatMap((point) => [
    `${point.verdict.toUpperCase().padEnd(13)}${kernelText(point)} ${problemText(point)}: ${point.reason}`,
    ...(point.verdict === 'failed' ? [] : [`${' '.repeat(13)}${powerText(point.estimate)}`])
  ])
  return [...gateHead(gate), '', ...points, ...gate.notes, '', gateVerdictLine(gate)]
}

/** 'Passed: 2 of 2 passed: 2 same.' */
export const gateVerdictLine = ({ passed, sentence }: GateResult): string =>
  `${passed ? 'Passed' : 'Not passed'}: ${sentence}.`

export function gateToMarkdown(gate: GateResult): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
  const line = (cells: string[]) => `| ${cells.map(cell).join(' | ')} |`
  const rows = gate.points.map((point) => [
    point.verdict.toUpperCase(),
    kernelText(point),
    problemText(point),
    ratioText(point),
    intervalText(point),
    point.verdict === 'failed' ? point.reason : powerText(point.estimate)
  ])
  return [
    `**${gateVerdictLine(gate)}**`,
    '',
    ...gateHead(gate),
    '',
    line(['verdict', 'kernel', 'point', 'time', 'interval', 'power']),
    '|---|---|---|---:|---:|---|',
    ...rows.map(line),
    '',
    ...gate.notes.map((note) => `- ${note}`),
    ''
  ].join('\n')
}

/** A suite for each format; what does not pass is a failure. */
export function gateToJunit(gate: GateResult): string {
  const cases = gate.points.map((point) => ({
    suite: point.format,
    name: `${kernelText(point)} ${extentsName(point)}`,
    seconds:
      [point.base, point.new].flatMap(({ samplesNs }) => samplesNs.flat()).reduce(sum, 0) / 1e9,
    outcome: isPassed(point.verdict) ? undefined : ('failure' as const),
    message: `${point.verdict.toUpperCase()}: ${point.reason}`
  }))
  const none = {
    ...{ suite: 'gate', name: 'something was compared', seconds: 0 },
    ...{ outcome: 'failure' as const, message: [gate.sentence, ...gate.notes].join(' ') }
  }
  const name = `blockscope gate ${gate.base} ${gate.new}`
  return junitXml(name, gate.createdAt, cases.length > 0 ? cases : [none])
}

const sum = (total: number, each: number) => total + each

/**
 * Records as PyTorch's benchmark dashboard takes them, one for each point: the visits of new in microseconds, the median of
 * base as their target.
 */
export function gateToDashboard(gate: GateResult): string {
  const { device, mode, output, base, new: tested } = gate
  const records = gate.points
    .filter(({ verdict }) => verdict !== 'failed')
    .map((point) => ({
      benchmark: {
        name: 'blockscope gate',
        mode,
        dtype: point.format,
        extra_info: { device: device.name, driver: device.driver, output }
      },
      model: { name: `${point.m}x${point.n}x${point.k}`, backend: kernelText(point) },
      metric: {
        name: 'time (us)',
        benchmark_values: point.new.samplesNs.map((visit) => median(visit) / 1e3),
        target_value: medianOf(point.base.samplesNs) / 1e3,
        extra_info: {
          ...{ base, new: tested, verdict: point.verdict, reason: point.reason },
          ...{ ratio: point.estimate.ratio, low: point.estimate.low, high: point.estimate.high }
        }
      }
    }))
  return JSON.stringify(records, null, 2) + '\n'
}

/** 'wgmma mxfp4 M=64 N=64 K=64: 12.30 us'. */
export const timeText = (point: BaselinePoint): string =>
  `${point.kernel} ${problemText(point)}: ${(median(point.visitsNs) / 1e3).toFixed(2)} us`
