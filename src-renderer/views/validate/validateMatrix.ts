/** What the Validate matrix shows: one cell per kernel and format, from the run so far and the device's capabilities. */
import type { Device } from '@shared/contract/devices'
import type { Run, Step } from '@shared/contract/run'
import type { MatrixRow } from '../../components/FormatMatrix.vue'
import { dispositionLook, type Look } from '../../components/looks'
import { formatsOf } from '../../stores/devices'
import { count, errorFigure } from '../../format/units'

export interface ValidateCell {
  look: Look
  /** Largest error, or what is being done. */
  note: string
  reason: string
  step: Step | undefined
  active: boolean
}

export interface MatrixState {
  rows: MatrixRow[]
  formats: string[]
  cell: (kernel: string, format: string) => ValidateCell
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
  const kernels = kernelsOf(run, device)
  const steps = new Map((run?.steps ?? []).map((step) => [`${step.kernel} ${step.format}`, step]))
  const formats = run ? expandFormats(run, device) : device ? formatsOf([device]) : []

  function cell(kernel: string, format: string): ValidateCell {
    const step = steps.get(`${kernel} ${format}`)
    const active = running && activity.startsWith(`${format} ${kernel}:`)
    if (active) {
      const doing = activity.slice(activity.indexOf(':') + 1).trim()
      const look = { icon: 'play', text: 'Running', short: 'Running', tone: 'info' } as const
      return { look, note: doing, reason: '', step, active }
    }
    if (step) {
      return {
        look: dispositionLook(step.disposition),
        note: noteOf(step),
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
      return { look: notAvailable, note: '', reason }
    }
    const asked = !run || run.spec.kernels.length === 0 || run.spec.kernels.includes(kernel)
    if (found?.baseline)
      return { look: baseline, note: '', reason: 'Baselines are timed, not validated.' }
    if (run && !asked) return { look: notAsked, note: '', reason: 'Not asked for in this run.' }
    return running
      ? { look: waiting, note: '', reason: 'Not reached yet.' }
      : { look: ready, note: '', reason: 'Not validated yet.' }
  }

  return { rows: kernels, formats, cell }
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

function kernelsOf(run: Run | undefined, device: Device | undefined): MatrixRow[] {
  if (isJudged(run)) return [{ id: givenResult, title: givenResult, note: 'C of a file' }]
  const rows = new Map<string, MatrixRow>()
  for (const kernel of device?.kernels ?? []) {
    rows.set(kernel.id, { id: kernel.id, title: kernel.id, note: kernel.provider })
  }
  for (const { kernel, provider } of run?.steps ?? []) {
    if (!rows.has(kernel)) rows.set(kernel, { id: kernel, title: kernel, note: provider })
  }
  // Rows that can do nothing say so in Devices.
  const able = (id: string) =>
    run?.steps.some((step) => step.kernel === id) ||
    device?.kernels
      .find((kernel) => kernel.id === id)
      ?.capabilities.some(({ level }) => level !== 'unavailable')
  return [...rows.values()].filter(({ id }) => able(id))
}

function expandFormats(run: Run, device: Device | undefined): string[] {
  const all = device ? formatsOf([device]) : []
  const asked = run.spec.formats.flatMap((format) => (format === 'all' ? all : [format]))
  return [...new Set([...asked, ...run.steps.map(({ format }) => format)])]
}

function noteOf(step: Step): string {
  const { validation } = step
  if (!validation) return ''
  if (validation.status === 'incorrect' && validation.elementsOutside > 0) {
    return `${count(validation.elementsOutside)} outside`
  }
  return errorFigure(validation.normwise)
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
