/** `blockscope open`: a profile, a run or a view, in the desktop app or, without one, in the browser. */
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { UserError } from '@shared/errors'
import { nodeAtPath } from '@shared/profile/nodePath'
import { defaultStoreFolder, RunStore } from '../store/runStore'
import { openDesktop } from './app'
import { openProfileFile } from './profileFiles'
import { serve } from './serve'

/** As in the page's rail. */
export const viewNames = [
  'devices',
  'validate',
  'sweep',
  'formats',
  'layouts',
  'profile',
  'runs'
] as const

export interface OpenFlags {
  view?: string
  node?: string
  run?: string
}

export function register(program: Command): void {
  program
    .command('open')
    .description('Open a profile, a run or a view: in the desktop app, or else in the browser.')
    .argument('[file]', 'profile to open')
    .option('--view <name>', `view to show: ${viewNames.join(', ')}`)
    .option('--node <path>', 'node of the profile to select: "ROOT > step 1 > matmul"')
    .option('--run <id>', 'run to show; "blockscope runs list" names them')
    .option('--no-open', 'do not open a browser in browser mode')
    .action(open)
}

async function open(file: string | undefined, flags: OpenFlags & { open: boolean }): Promise<void> {
  const page = await pageFor(file, flags)
  const files = file === undefined ? [] : [resolve(file)]
  const failure = await openDesktop(files, page)
  if (failure === undefined) return
  process.stdout.write(`${failure} The app opens in the browser instead.\n`)
  await serve({ open: flags.open, host: '127.0.0.1', port: 0, files, page })
}

/**
 * The page's address of what is asked for: '/profile?run=...&node=...'. Throws a UserError for what is not there, so that
 * it is said here and not in a window.
 */
export async function pageFor(file: string | undefined, flags: OpenFlags): Promise<string> {
  const { run, node } = flags
  if (file !== undefined && run !== undefined)
    throw new UserError('usage', 'FILE and --run exclude each other: name one of them.')
  const isKnown = (viewNames as readonly string[]).includes(flags.view ?? 'devices')
  if (!isKnown)
    throw new UserError('usage', `--view ${flags.view}: choose one of ${viewNames.join(', ')}.`)
  if (file !== undefined) checkFile(file, node)
  const kind = run === undefined ? undefined : await checkRun(run, node)

  const usual = file !== undefined || node !== undefined ? 'profile' : (kind ?? 'devices')
  const view = flags.view ?? usual
  if (file !== undefined && view !== 'profile')
    throw new UserError('usage', `--view ${view}: a file opens in the view "profile".`)
  if (kind !== undefined && ![kind, 'profile', 'runs'].includes(view))
    throw new UserError(
      'usage',
      `--view ${view}: run ${run} is shown by ${[...new Set([kind, 'profile', 'runs'])].join(', ')}.`
    )
  if (node !== undefined && (view !== 'profile' || (file ?? run) === undefined))
    throw new UserError('usage', '--node is of a profile: give a FILE or --run, in view "profile".')
  const query = new URLSearchParams({ ...(run && { run }), ...(node && { node }) }).toString()
  return `/${view}${query === '' ? '' : `?${query}`}`
}

/** Reads the profile as the page will, so that a file it cannot read is refused before a window opens. */
function checkFile(file: string, node: string | undefined): void {
  const { tree } = openProfileFile(file)
  if (statSync(file).isDirectory())
    throw new UserError('usage', `${file} is a folder; name the profile.hatchet in it.`)
  if (node !== undefined && nodeAtPath(tree, node) < 0)
    throw new UserError('usage', `${file} has no node "${node}"; "blockscope view" prints them.`)
}

/** The kind of a run that is there, which is the view that shows it. */
async function checkRun(id: string, node: string | undefined): Promise<string> {
  const store = new RunStore(defaultStoreFolder())
  const { kind } = await store.read(id)
  if (node === undefined) return kind
  await store.file(id, 'profile.hatchet')
  const { tree } = openProfileFile(join(store.folderOf(id), 'profile.hatchet'))
  if (nodeAtPath(tree, node) < 0)
    throw new UserError('usage', `The profile of run ${id} has no node "${node}".`)
  return kind
}
