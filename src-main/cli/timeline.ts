/** `blockscope timeline`: what a stretch of a trace holds, as the Timeline view says it. */
import type { Command } from 'commander'
import { UserError } from '@shared/errors'
import { nameTest } from '@shared/profile/ask/nameMatcher'
import { shortName } from '@shared/profile/ask/shortName'
import { groupsBy } from '@shared/profile/lanes/groups'
import { lanesOf, type Lanes } from '@shared/profile/lanes/lanes'
import { rangeSums, workLanes } from '@shared/profile/lanes/rangeSums'
import { rangeWithin } from '@shared/profile/lanes/rangeText'
import { AllRowSums } from '@shared/profile/lanes/rowSums'
import { timelineOf, withoutTimes } from '@shared/profile/timelineOf'
import { timelineJson, timelineLines } from '@shared/profile/write/printTimeline'
import { print, printJson, printNote } from '../ground/terminal'
import { positiveInteger } from './arguments'
import { openTogether, printWarnings } from './profileFiles'

interface TimelineFlags {
  range?: string
  lanes?: string
  number: number
  short?: boolean
  json?: boolean
}

export function register(program: Command): void {
  program
    .command('timeline')
    .description('Sums by kernel and idle times of a trace, or of a stretch of it.')
    .argument('<files...>', 'trace, the ranks of one, or a run: its folder, its id or "latest"')
    .option('--range <from..to>', 'only this stretch, from the first slice on: 3.6ms..3.8ms')
    .option('--lanes <text>', 'only lanes with this in their name or process; text or /regex/')
    .option('-n, --number <n>', 'kernels to show', positiveInteger, 20)
    .option('--short', 'names as the app shortens them')
    .option('--json', 'print as JSON; times in ns')
    .action(timeline)
}

async function timeline(files: string[], flags: TimelineFlags): Promise<void> {
  const opened = await openTogether(files, { timeline: true })
  printWarnings(opened.tree)
  const found = timelineOf(opened)
  if (!found) throw new UserError('usage', `${files.join(', ')} has no timeline. ${withoutTimes}`)
  const lanes = lanesOf(found)
  const range = flags.range
    ? rangeWithin(flags.range, lanes.lengthNs)
    : { startNs: 0, endNs: lanes.lengthNs }
  const none = groupsBy(found, ['all'], () => 0)
  const sums = rangeSums(new AllRowSums(lanes, none), range, lanesNamed(lanes, flags.lanes))
  if (flags.json) {
    printJson(timelineJson(lanes, sums))
    return
  }
  const nameOf = flags.short ? shortName : (name: string) => name
  print(timelineLines(lanes, sums, { most: flags.number, nameOf }))
  if (lanes.tooDeep > 0)
    printNote([`${lanes.tooDeep} slices are nested deeper than 512 levels and not counted.`])
}

/** Lanes that are named; without a name those that the time of the trace goes to. */
function lanesNamed(lanes: Lanes, text: string | undefined): number[] {
  if (text === undefined) return workLanes(lanes)
  const test = nameTest(text, { ignoreCase: true })
  const found = lanes.lanes.flatMap(({ name, process, processLabel }, at) =>
    test(name) || test(process) || test(processLabel) ? [at] : []
  )
  if (found.length > 0) return found
  const names = lanes.lanes.slice(0, 8).map(({ name }) => `'${name}'`)
  const more = lanes.lanes.length > 8 ? ', ...' : ''
  throw new UserError(
    'usage',
    `--lanes ${text}: no lane has this name. There are ${names.join(', ')}${more}.`
  )
}
