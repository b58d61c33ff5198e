import type { Command } from 'commander'
import type { HistoryEntry, HistoryPoint } from '@shared/contract/history'
import { UserError } from '@shared/errors'
import { extentsText } from '@shared/measurement/problemText'
import { knownName } from '@shared/knownName'
import { digits } from '@shared/units'
import { readHistory } from '../jobs/runHistory'
import { print, printJson } from '../ground/terminal'
import type { RunStore } from '../store/runStore'

interface HistoryFlags {
  kernel?: string
  format?: string
  shape?: string
  device?: string
  mode?: string
  label?: string
  baseline?: string
  store?: string
  json?: boolean
}

/** `command`: a subcommand of runs with its usual flags. */
export function addHistory(command: Command, open: (flags: HistoryFlags) => RunStore): void {
  command
    .option('--kernel <id>', 'of this kernel (default: what most runs measured)')
    .option('--format <name>', 'in this format')
    .option('--shape <MxNxK>', 'at this shape: 8192x8192x8192')
    .option('--device <name>', "on this device, by its name's part: H200")
    .option('--mode <mode>', 'cold or hot')
    .option('--label <text>', 'in runs of this label alone')
    .option('--baseline <id>', 'run that the others are compared with')
    .action((flags: HistoryFlags) => history(open(flags), flags))
}

async function history(store: RunStore, flags: HistoryFlags): Promise<void> {
  const { label } = flags
  const { points } = await readHistory(store)
  if (points.length === 0) throw new UserError('usage', 'No run here has measured a point.')
  const point = choose(
    points.map((one) => one.point),
    flags
  )
  const baseline = flags.baseline === undefined ? undefined : await store.find(flags.baseline)
  const { entries, labels } = await readHistory(store, point, label)
  if (entries.length === 0)
    throw new UserError(
      'usage',
      `No run of label "${label}" measured this point; labels here: ${labels.join(', ') || 'none'}.`
    )
  if (baseline !== undefined && !entries.some(({ runId }) => runId === baseline))
    throw new UserError('usage', `Run ${baseline} did not measure this point.`)
  if (flags.json) return printJson({ point, entries })
  const { format, kernel, mode, device } = point
  print(`${format} ${kernel} ${extentsText(point)}, ${mode}, ${device}`)
  print(
    entries.map((entry) =>
      line(
        entry,
        entries.find(({ runId }) => runId === baseline)
      )
    )
  )
}

/** The first point that fits all that is said: points come with those of the most runs first. */
function choose(points: readonly HistoryPoint[], flags: HistoryFlags): HistoryPoint {
  const names = (of: 'kernel' | 'format') => [...new Set(points.map((point) => point[of]))]
  const kernel =
    flags.kernel && knownName(flags.kernel, names('kernel'), 'kernel of these runs', 'Kernels')
  const format =
    flags.format && knownName(flags.format, names('format'), 'format of these runs', 'Formats')
  const shape = flags.shape?.toLowerCase()
  const found = points.find(
    (point) =>
      (!kernel || point.kernel === kernel) &&
      (!format || point.format === format) &&
      (!shape || `${point.m}x${point.n}x${point.k}` === shape) &&
      (!flags.device || point.device.toLowerCase().includes(flags.device.toLowerCase())) &&
      (!flags.mode || point.mode === flags.mode)
  )
  if (found) return found
  throw new UserError(
    'usage',
    'No run measured such a point; "blockscope runs history" alone shows the one that most runs have.'
  )
}

const words: Record<HistoryEntry['verdict'], string> = {
  first: 'first',
  same: 'no change beyond noise',
  faster: 'FASTER than the run before',
  slower: 'SLOWER than the run before',
  noisy: 'noisy: no verdict'
}

const signed = (share: number) => `${share < 0 ? '-' : '+'}${Math.abs(share * 100).toFixed(1)} %`

function line(entry: HistoryEntry, baseline: HistoryEntry | undefined): string {
  const change =
    entry.verdict === 'faster' || entry.verdict === 'slower' ? `, ${signed(entry.change)}` : ''
  return [
    entry.createdAt.slice(0, 16).replace('T', ' '),
    `${digits(entry.median)} TFLOP/s`.padStart(14),
    `q1-q3 ${digits(entry.q1)}-${digits(entry.q3)}`.padEnd(22),
    ...(baseline
      ? [`${signed(entry.median / baseline.median - 1)} to the baseline`.padEnd(24)]
      : []),
    `${words[entry.verdict]}${change}`,
    entry.runId
  ].join('  ')
}
