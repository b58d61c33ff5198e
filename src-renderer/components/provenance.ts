/** Everything that is known about how a number came to be, as rows for a person. */
import type { Run, Step } from '@shared/contract/run'
import { algorithmText } from '@shared/measurement/matmulAlgorithm'
import { placesText } from '@shared/measurement/placeSpread'
import { madeByText, operandsText } from '@shared/measurement/runName'
import { countedText, statedText } from '@shared/measurement/validationFigures'
import { count, dateTime, digits, duration, quantity, text } from '@shared/units'

export interface ProvenanceRow {
  title: string
  text: string
}

export function provenance(run: Run, step: Step): ProvenanceRow[] {
  const m = step.measurement
  if (!m) return []
  const time = (ns: number) => text(quantity('time', ns))
  const { timeNs: t } = m
  const discarded = t.discarded > 0 ? `, ${count(t.discarded)} discarded` : ''
  const rows: [title: string, text: string | undefined][] = [
    ['Method', m.method],
    ['Timing', `${m.timingSource}; ${m.cacheMode}`],
    ['Samples', `${count(t.samples)}${discarded}; stopped by: ${m.stopReason}`],
    ['Places', placesText(step)],
    ['Stated', statedText(step.validation)],
    ['Counted', countedText(step.validation?.counted)],
    ['Chosen by the library', algorithmText(step)],
    ['Median [q1, q3]', `${time(t.median)} [${time(t.q1)}, ${time(t.q3)}]`],
    ['Min, p95, max', `${time(t.min)}, ${time(t.p95)}, ${time(t.max)}`],
    ['Mean ± deviation', `${time(t.mean)} ± ${time(t.standardDeviation)}`],
    [
      'Rounds',
      m.roundMediansNs.length > 1 ? m.roundMediansNs.map((ns) => time(ns)).join(', ') : undefined
    ],
    [
      'Per sample',
      m.launchesPerSample > 1 ? `${m.launchesPerSample} launches, grouped` : undefined
    ],
    ['CUPTI', m.cuptiNs > 0 ? time(m.cuptiNs) : undefined],
    ['Clock', m.meanMHz > 0 ? `${count(m.meanMHz)} MHz mean` : undefined],
    ['Power', m.meanWatts > 0 ? `${digits(m.meanWatts)} W mean` : undefined],
    ['Temperature', m.meanTemperatureC > 0 ? `${digits(m.meanTemperatureC)} °C mean` : undefined],
    [
      'Sustained',
      m.sustainedNs > 0
        ? `${time(m.sustainedNs)} over ${count(m.sustainedCount)} launches` +
          (m.joulesPerLaunch > 0
            ? `, ${digits(m.sustainedWatts)} W, ${digits(m.joulesPerLaunch)} J each`
            : '')
        : undefined
    ],
    ['Warm-up', run.measuredBy ? undefined : time(m.warmupNs)],
    ['Compiled', m.compileSeconds > 0 ? `in ${duration(m.compileSeconds)}` : undefined],
    [
      'Operands',
      run.measuredBy ? operandsText(run) : `${operandsText(run)}, ${m.operandSets} sets`
    ],
    ['Bytes counted', `${text(quantity('bytes', m.bytes))} (operands, scales, C once)`],
    ['Device', run.device && `${run.device.name}, ${run.device.architecture}`],
    [
      'Kernel source',
      step.sourceHash && `${step.sourceHash.slice(0, 16)}; ${step.compileOptions || 'no options'}`
    ],
    ['Run', `${run.id}, ${dateTime(run.createdAt)}, blockscope ${run.appVersion}`],
    ['Measured by', run.measuredBy && madeByText(run)],
    ['Command', run.command]
  ]
  return rows.flatMap(([title, text]) => (text ? [{ title, text }] : []))
}
