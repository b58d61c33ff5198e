/** The form of a capture, and what it asks for: the command line's options under the same names. */
import { computed, ref } from 'vue'
import { counterMetrics } from '@shared/capture/counterMetrics'
import type { CaptureSpecInput } from '@shared/contract/capture'
import { messageOf } from '@shared/errors'
import { quoted } from '@shared/profile/write/viewCommand'
import { shellWords } from '@shared/shellWords'
import { parseTimeLength, timeLengthNeeded } from '@shared/timeLength'
import { problemsOf, type Checked } from '../../ground/fields'
import { useSavedForm } from '../../stores/savedForm'

export type CaptureForm = {
  command: string
  workingFolder: string
  after: string
  for: string
  range: string
  kernels: string
  only: string
  waits: boolean
  wholeGraphs: boolean
  python: boolean
  counters: boolean
  endProgram: boolean
}

const initial: CaptureForm = {
  ...{ command: '', workingFolder: '', after: '', for: '', range: '', kernels: '', only: '' },
  ...{ waits: false, wholeGraphs: false, python: false, counters: false, endProgram: false }
}

function words(typed: string, name: string): Checked<string[]> {
  try {
    return { value: shellWords(typed) }
  } catch (error) {
    return { problem: `${name}: ${messageOf(error)}` }
  }
}

/** NAME=value, one beside the other. */
export function environmentOf(typed: string): Checked<Record<string, string>> {
  const { value = [], problem } = words(typed, 'Environment')
  if (problem) return { problem }
  const bad = value.find((word) => !/^[A-Za-z_]\w*=/.test(word))
  if (bad !== undefined) return { problem: `"${bad}" is no NAME=value.` }
  const pairs = value.map((word) => [
    word.slice(0, word.indexOf('=')),
    word.slice(word.indexOf('=') + 1)
  ])
  return { value: Object.fromEntries(pairs) as Record<string, string> }
}

function time(typed: string): Checked<number> {
  if (typed.trim() === '') return {}
  const value = parseTimeLength(typed)
  return value === undefined ? { problem: timeLengthNeeded } : { value }
}

/** Of the form, whose fields are saved, and the environment, which may hold secrets and is not. */
export function readForm(form: CaptureForm, environment: string) {
  const command = words(form.command, 'Command')
  const fields = {
    command,
    environment: environmentOf(environment),
    after: time(form.after),
    for: time(form.for)
  }
  const problems = problemsOf(fields)
  const text = (key: 'workingFolder' | 'range' | 'kernels' | 'only') =>
    form[key].trim() === '' ? {} : { [key]: form[key].trim() }
  const isWhole = Object.keys(problems).length === 0 && (command.value?.length ?? 0) > 0
  const spec: CaptureSpecInput | undefined = isWhole
    ? {
        command: command.value!,
        environment: fields.environment.value!,
        ...text('workingFolder'),
        ...(fields.after.value !== undefined && { afterMs: fields.after.value }),
        ...(fields.for.value !== undefined && { forMs: fields.for.value }),
        ...text('range'),
        ...text('kernels'),
        ...text('only'),
        waits: form.waits,
        wholeGraphs: form.wholeGraphs,
        python: form.python,
        counters: form.counters ? counterMetrics.map(({ name }) => name) : [],
        endProgram: form.endProgram
      }
    : undefined
  return { problems, spec }
}

/** The command line that does the same. */
export function captureCommand(form: CaptureForm, spec: CaptureSpecInput | undefined): string {
  const flag = (name: string, value: string) =>
    value.trim() === '' ? [] : [`--${name}`, quoted(value.trim())]
  const variables = Object.entries(spec?.environment ?? {}).map(
    ([name, value]) => `${name}=${quoted(value)}`
  )
  return [
    ...(form.workingFolder.trim() === '' ? [] : [`cd ${quoted(form.workingFolder.trim())} &&`]),
    ...variables,
    ...['blockscope', 'capture', ...flag('after', form.after), ...flag('for', form.for)],
    ...[...flag('range', form.range), ...flag('kernels', form.kernels), ...flag('only', form.only)],
    ...(form.waits ? ['--on-signal', 'USR1'] : []),
    ...(form.wholeGraphs ? ['--graphs'] : []),
    ...(form.python ? ['--python'] : []),
    ...(form.counters ? ['--counters'] : []),
    ...(form.endProgram ? ['--end-program'] : []),
    ...['--', ...(spec?.command.map(quoted) ?? ['CMD'])]
  ].join(' ')
}

export function useCaptureForm() {
  const form = useSavedForm('capture', initial)
  const environment = ref('')
  const read = computed(() => readForm(form, environment.value))
  return {
    form,
    environment,
    problems: computed(() => read.value.problems),
    spec: computed(() => read.value.spec),
    command: computed(() => captureCommand(form, read.value.spec))
  }
}
