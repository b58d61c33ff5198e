/** `blockscope open`: a profile, a run or a view, in the desktop app or, without one, in the browser. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { viewIds } from '@shared/contract/views'
import { UserError } from '@shared/errors'
import { nodeAtPath } from '@shared/profile/ask/nodePath'
import { lanesOf } from '@shared/profile/lanes/lanes'
import { rangeWithin } from '@shared/profile/lanes/rangeText'
import type { OpenedProfile } from '@shared/profile/read/openProfile'
import { treeOfRun } from '@shared/profile/read/runTree'
import { timelineOf } from '@shared/profile/timelineOf'
import { missing } from '../ground/named'
import { refuseFolder } from '../capture/captureFolder'
import { defaultStoreFolder, RunStore } from '../store/runStore'
import { openAnywhere, type AppFlags } from './app'
import { openProfileFile } from './profileFiles'

/** Views that show the open profile. */
const profileViews: readonly string[] = ['profile', 'timeline', 'capture']

export interface OpenFlags {
  view?: string
  node?: string
  run?: string
  range?: string
}

export function register(program: Command): void {
  program
    .command('open')
    .description('Open a profile, a run or a view: in the desktop app, or else in the browser.')
    .argument('[file]', 'profile or folder of a capture to open')
    .option('--view <name>', `view to show: ${viewIds.join(', ')}`)
    .option('--node <path>', 'node of the profile to select: "ROOT > step 1 > matmul"')
    .option('--range <from..to>', 'stretch of the timeline to show: 3.6ms..3.8ms')
    .option('--run <id>', 'run to show; "blockscope runs list" names them')
    .option('--no-open', 'do not open a browser in browser mode')
    .option('--json', 'print what opened as JSON')
    .action(open)
}

async function open(file: string | undefined, flags: OpenFlags & AppFlags): Promise<void> {
  const page = await pageFor(file, flags)
  await openAnywhere(file === undefined ? [] : [resolve(file)], flags, page)
}

/**
 * The page's address of what is asked for: '/timeline?run=...&node=...&range=...'. Throws a UserError for what is not there, so that
 * it is said here and not in a window.
 */
export async function pageFor(file: string | undefined, flags: OpenFlags): Promise<string> {
  const { node, range } = flags
  if (file !== undefined && flags.run !== undefined)
    throw new UserError('usage', 'FILE and --run exclude each other: name one of them.')
  const isKnown = (viewIds as readonly string[]).includes(flags.view ?? 'devices')
  if (!isKnown)
    throw new UserError('usage', `--view ${flags.view}: choose one of ${viewIds.join(', ')}.`)
  if (file !== undefined) await checkFile(file, flags)
  const store = new RunStore(defaultStoreFolder())
  const run = flags.run === undefined ? undefined : await store.find(flags.run)
  const kind = run === undefined ? undefined : await checkRun(store, run, flags)

  const usual =
    range !== undefined
      ? 'timeline'
      : file !== undefined || node !== undefined
        ? 'profile'
        : (kind ?? 'devices')
  const view = flags.view ?? usual
  const isProfile = profileViews.includes(view)
  if (file !== undefined && !isProfile)
    throw new UserError('usage', `--view ${view}: a file opens in ${profileViews.join(' or ')}.`)
  const ofRun = [...new Set([kind ?? '', ...profileViews, 'runs'])]
  if (kind !== undefined && !ofRun.includes(view))
    throw new UserError('usage', `--view ${view}: run ${run} is shown by ${ofRun.join(', ')}.`)
  if (node !== undefined && (!isProfile || (file ?? run) === undefined))
    throw new UserError(
      'usage',
      `--node is of a profile: give a FILE or --run, in view ${profileViews.join(' or ')}.`
    )
  if (range !== undefined && (view !== 'timeline' || (file ?? run) === undefined))
    throw new UserError(
      'usage',
      '--range is of a timeline: give a FILE or --run, in view timeline.'
    )
  const params = { ...(run && { run }), ...(node && { node }), ...(range && { range }) }
  const query = new URLSearchParams(params).toString()
  return `/${view}${query === '' ? '' : `?${query}`}`
}

/** Reads the profile as the page will, so that a file it cannot read is refused before a window opens. */
async function checkFile(file: string, { node, range }: OpenFlags): Promise<void> {
  if (!existsSync(file)) throw missing(file, '--run names a run of the store')
  const opened = await openProfileFile(file)
  refuseFolder(file)
  if (node !== undefined && nodeAtPath(opened.tree, node) < 0)
    throw new UserError('usage', `${file} has no node "${node}"; "blockscope view" prints them.`)
  checkRange(file, opened, range)
}

/** The kind of a run that is there, which is the view that shows it. */
async function checkRun(store: RunStore, id: string, { node, range }: OpenFlags): Promise<string> {
  const run = await store.read(id)
  if (node === undefined && range === undefined) return run.kind
  const tree = treeOfRun(run)
  if (node !== undefined && nodeAtPath(tree, node) < 0)
    throw new UserError('usage', `The profile of run ${id} has no node "${node}".`)
  checkRange(`Run ${id}`, { tree, timeline: null, run }, range)
  return run.kind
}

function checkRange(what: string, opened: OpenedProfile, range: string | undefined): void {
  if (range === undefined) return
  const timeline = timelineOf(opened)
  if (!timeline) throw new UserError('usage', `${what} has no timeline, so no --range of one.`)
  rangeWithin(range, lanesOf(timeline).lengthNs)
}
