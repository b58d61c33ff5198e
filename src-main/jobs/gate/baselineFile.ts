/** A baseline that a repository keeps: times for each device in each of its states, the newest of each. */
import { existsSync } from 'node:fs'
import { deviceStateText, type DeviceState } from '@shared/contract/deviceState'
import { baselineFileSchema, type BaselineFile, type BaselineState } from '@shared/contract/gate'
import { UserError } from '@shared/errors'
import { methodName } from '@shared/measurement/presets'
import { describeIssues } from '@shared/schemaWords'
import * as v from 'valibot'
import { writeOutput } from '../../ground/files'
import { readNamed } from '../../ground/named'
import { keyOf, recordedState, stateOfBaseline, type RecordedSide } from './sides'

/** Throws a UserError when it is not there or no baseline. */
export async function readBaseline(path: string): Promise<BaselineFile> {
  const text = await readNamed(path, path, '--record makes a baseline of what is here')
  let json: unknown
  try {
    json = JSON.parse(text.toString())
  } catch (error) {
    throw new UserError('usage', `${path} is no baseline: it is not JSON.`, { cause: error })
  }
  const parsed = v.safeParse(baselineFileSchema, json)
  if (parsed.success) return parsed.output
  throw new UserError('usage', `${path} is no baseline: at ${describeIssues([parsed.issues[0]])}.`)
}

type Asked = { mode: string; output: string }

/** What was recorded in this very state. Throws a UserError that says which states there are. */
export async function openBaseline(
  path: string,
  device: DeviceState,
  asked: Asked
): Promise<RecordedSide> {
  const file = await readBaseline(path)
  const found = stateOfBaseline(file, device, asked)
  if (found) return recordedState(found, path)
  const known = file.states.map(
    ({ device: of, method, mode, output }) =>
      `${deviceStateText(of)} (${method}, ${mode}, output ${output})`
  )
  throw new UserError(
    'failed',
    `${path} has no baseline of ${deviceStateText(device)} (${methodName}, ${asked.mode}, output ${asked.output}); it has ` +
      `${known.join('; ') || 'none'}. --record adds one.`
  )
}

/** Whether recording would replace points, asked before they are timed. Throws a UserError when it would, unless `force`. */
export async function checkRecording(
  path: string,
  device: DeviceState,
  asked: Asked,
  { force }: { force?: boolean }
): Promise<void> {
  if (!existsSync(path)) return
  if (stateOfBaseline(await readBaseline(path), device, asked) && !force)
    throw new UserError(
      'usage',
      `${path} has a baseline of ${deviceStateText(device)}; --force replaces its points.`
    )
}

/** Adds what was timed; the same kernel and shape in the same state is replaced, all else stays. Returns how many points that state has now. */
export async function addToBaseline(path: string, timed: BaselineState): Promise<number> {
  const file: BaselineFile = existsSync(path)
    ? await readBaseline(path)
    : { blockscopeBaseline: 1, states: [] }
  const before = stateOfBaseline(file, timed.device, timed)
  const keys = new Set(timed.points.map((point) => keyOf(point.kernel, point)))
  const kept = before?.points.filter((point) => !keys.has(keyOf(point.kernel, point))) ?? []
  const points = [...kept, ...timed.points]
  const states = [...file.states.filter((one) => one !== before), { ...timed, points }]
  const text = JSON.stringify({ ...file, states }, null, 1) + '\n'
  // What is not replaced is in it still.
  await writeOutput(path, [text], { force: true })
  return points.length
}
