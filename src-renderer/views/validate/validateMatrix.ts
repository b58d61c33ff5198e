/** What the Validate matrix shows: one cell per kernel and format, from the run so far and the device's capabilities. */
import type { Device } from '@shared/contract/devices'
import type { Run, Step } from '@shared/contract/run'
import { groupedBy } from '@shared/groupedBy'
import { familyOf, type ProviderFamily } from '@shared/measurement/marks'
import { toleranceShareOf } from '@shared/measurement/validationFigures'
import { standingStep } from '@shared/measurement/validationSummary'
import { formatsTaken, shortReason } from '@shared/measurement/shortReason'
import type { MatrixRow } from '../../components/FormatMatrix.vue'
import { dispositionLook, levelLook, type Look } from '../../components/looks'
import { formatsOf } from '../../stores/devices'
import { count } from '@shared/units'

export interface ValidateCell {
  look: Look
  /** Largest error / tolerance; undefined where nothing was compared, or with no tolerance at all. */
  share: number | undefined
  /** Elements outside, why it passed, or what is being done. */
  note: string
  reason: string
  step: Step | undefined
  active: boolean
  /** It computes something else: no part of pass and fail. */
  reference: boolean
  /** Of a run that timed it too. */
  tflops: number | undefined
  family: ProviderFamily
}

export interface MatrixState {
  rows: MatrixRow[]
  formats: string[]
  cell: (kernel: string, format: string) => ValidateCell
  /** Where the longest bar of rates ends; undefined where nothing was timed. */
  mostTflops: number | undefined
  /** 'Passed' 14, 'Not available' 14, in order of the cells. */
  counts: { look: Look; count: number }[]
}

interface Live {
  running: boolean
  /** 'nvfp4 wgmma: reference', as the job reports it. */
  activity: string
}

export function validateMatrix(
  run: Run | undefined,
  device: Device | undefined,
  { running, activity }: Live
): MatrixState {
  const all = groupedBy(run?.steps ?? [], ({ kernel, format }) => `${kernel} ${format}`)
  const steps = new Map([...all].map(([key, several]) => [key, standingStep(several)!]))
  const kernels = kernelsOf(run, device, [...steps.values()])
  const providers = new Map(kernels.map(({ id, group }) => [id, group]))
  const formats = run ? expandFormats(run, device) : device ? formatsOf([device]) : []

  function cell(kernel: string, format: string): ValidateCell {
    const step = steps.get(`${kernel} ${format}`)
    const tflops = step?.measurement?.tflops
    const { validation } = step ?? {}
    return {
      ...stateOf(kernel, format, step),
      share: finite(validation && toleranceShareOf(validation)),
      reference: step?.disposition === 'baseline',
      tflops: finite(tflops),
      family: familyOf({ kernel, provider: providers.get(kernel) ?? '' })
    }
  }

  function stateOf(kernel: string, format: string, step: Step | undefined) {
    const active = running && activity.startsWith(`${format} ${kernel}:`)
    if (active) {
      const doing = activity.slice(activity.indexOf(':') + 1).trim()
      const look = { icon: 'play', text: 'Running', short: 'Running', tone: 'info' } as const
      return { look, note: doing, reason: '', step, active }
    }
    if (step) {
      return {
        look: dispositionLook(step.disposition),
        note: noteOf(step) || shortReason(step.reason, formatsTaken(device, kernel)),
        reason: step.reason,
        step,
        active
      }
    }
    return { ...withoutStep(kernel, format), step: undefined, active }
  }

  function withoutStep(kernel: string, format: string) {
    if (isJudged(run)) {
      const reason = running ? 'Not reached yet.' : 'Not judged.'
      return { look: running ? waiting : notAsked, note: '', reason }
    }
    const found = device?.kernels.find(({ id }) => id === kernel)
    const capability = found?.capabilities.find((entry) => entry.format === format)
    if (!capability || capability.level === 'unavailable') {
      const reason = capability?.reason || `${kernel} has no code for ${format}.`
      return { look: notAvailable, note: shortReason(reason, formatsTaken(device, kernel)), reason }
    }
    if (found?.baseline)
      return { look: baseline, note: '', reason: 'Baselines are timed, not validated.' }
    if (run && !isAsked(run, kernel))
      return { look: notAsked, note: '', reason: 'Not asked for in this run.' }
    return running
      ? { look: waiting, note: '', reason: 'Not reached yet.' }
      : { look: ready, note: '', reason: 'Not validated yet.' }
  }

  const cells = kernels.flatMap(({ id }) => formats.map((format) => cell(id, format)))
  const rates = cells.flatMap(({ tflops }) => tflops ?? [])
  return {
    rows: kernels,
    formats,
    cell,
    mostTflops: rates.length > 0 ? Math.max(...rates) : undefined,
    counts: countsOf(cells)
  }
}

function countsOf(cells: readonly ValidateCell[]): { look: Look; count: number }[] {
  const counts = new Map<string, { look: Look; count: number }>()
  for (const { look } of cells) {
    const before = counts.get(look.text)
    counts.set(look.text, { look, count: (before?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}

const notAvailable: Look = { icon: 'minus', text: 'Not available', short: 'None', tone: 'na' }
const notAsked: Look = { icon: 'minus', text: 'Not asked for', short: 'Left out', tone: 'na' }
const baseline: Look = { icon: 'minus', text: 'Baseline', short: 'Baseline', tone: 'na' }
const waiting: Look = { icon: 'queue', text: 'Waiting', short: 'Waiting', tone: 'na' }
const ready: Look = { icon: 'queue', text: 'Not validated', short: 'Ready', tone: 'na' }

/** Stands where a kernel stands in a run that judges the C of another program. */
export const givenResult = 'given'

export const isJudged = (run: Run | undefined): boolean =>
  run?.spec.kind === 'validate' && run.spec.resultFile !== undefined

/** Named, chosen by `auto`, or none is named. */
const isAsked = (run: Run | undefined, kernel: string): boolean =>
  !run ||
  run.spec.kernels.length === 0 ||
  run.spec.kernels.includes(kernel) ||
  run.steps.some((step) => step.choice?.kernel === kernel)

/** In the device's order, what only stands for comparison last. */
function kernelsOf(
  run: Run | undefined,
  device: Device | undefined,
  steps: readonly Step[]
): (MatrixRow & { group: string })[] {
  if (isJudged(run))
    return [{ id: givenResult, title: givenResult, note: 'C of a file', group: givenResult }]
  const rows = new Map<string, MatrixRow & { group: string }>()
  const references = new Set<string>()
  const add = (id: string, provider: string, baseline: boolean, levels: readonly string[]) => {
    if (rows.has(id)) return
    if (baseline) references.add(id)
    const own = steps.filter(({ kernel }) => kernel === id)
    const about = baseline ? 'computes something else' : levelWords(levels) + uncheckedWords(own)
    rows.set(id, { id, title: id, note: about || provider, group: provider })
  }
  for (const { id, provider, baseline, capabilities } of device?.kernels ?? [])
    add(
      id,
      provider,
      baseline,
      capabilities.map(({ level }) => level)
    )
  for (const { kernel, provider, baseline, level } of steps)
    add(kernel, provider, baseline, [level])
  const isNamed = (id: string) => run?.spec.kernels.includes(id) === true
  // Rows that can do nothing say so in Devices; emulated instructions are run where they are named.
  const able = (id: string) =>
    run?.steps.some((step) => step.kernel === id) ||
    device?.kernels
      .find((kernel) => kernel.id === id)
      ?.capabilities.some(
        ({ level }) => level !== 'unavailable' && (isNamed(id) || level !== 'emulated')
      )
  const found = [...rows.values()].filter(({ id }) => isAsked(run, id) && able(id))
  const last = ({ id }: MatrixRow) => Number(references.has(id))
  return found.sort((a, b) => last(a) - last(b))
}

/** 'exact in software' where a kernel does all of its formats alike. */
function levelWords(levels: readonly string[]): string {
  const [first, ...others] = new Set(levels.filter((level) => level !== 'unavailable'))
  return first === undefined || others.length > 0 ? '' : levelLook(first).text.toLowerCase()
}

function uncheckedWords(steps: readonly Step[]): string {
  const judged = steps.flatMap(({ validation }) => validation ?? [])
  const isUnchecked = judged.every(
    ({ perturbationA, perturbationB }) =>
      perturbationA.state === 'not-run' && perturbationB.state === 'not-run'
  )
  return judged.length > 0 && isUnchecked ? '; scale check not run' : ''
}

function expandFormats(run: Run, device: Device | undefined): string[] {
  const all = device ? formatsOf([device]) : []
  const asked = run.spec.formats.flatMap((format) => (format === 'all' ? all : [format]))
  return [...new Set([...asked, ...run.steps.map(({ format }) => format)])]
}

const finite = (value: number | undefined) =>
  value !== undefined && Number.isFinite(value) ? value : undefined

function noteOf(step: Step): string {
  const { validation } = step
  if (!validation) return ''
  // Beyond the tolerance, and right all the same (docs/measurement.md).
  if (step.disposition === 'passed' && (toleranceShareOf(validation) ?? 0) > 1)
    return 'by an allowance'
  if (!step.baseline && validation.status === 'incorrect' && validation.elementsOutside > 0) {
    return `${count(validation.elementsOutside)} outside`
  }
  return ''
}

/** The matrix as a table of one line per cell, heading first. */
export function matrixRows({ rows, formats, cell }: MatrixState): (string | number)[][] {
  const lines = rows.flatMap(({ id }) =>
    formats.map((format) => {
      const { look, reason, step } = cell(id, format)
      const { normwise, maxAbs, elementsOutside } = step?.validation ?? {}
      return [id, format, look.text, normwise ?? '', maxAbs ?? '', elementsOutside ?? '', reason]
    })
  )
  const head = ['kernel', 'format', 'result', 'normwise error', 'max abs', 'outside', 'reason']
  return [head, ...lines]
}
