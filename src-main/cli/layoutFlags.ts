/** What the layout commands share: which layout, of how many scales, files of raw bytes, and what is written. */
import type { Command } from 'commander'
import { UserError } from '@shared/errors'
import type { ScaleLayout } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { parseUserLayout } from '@shared/layouts/userLayout'
import { readNamedSync } from '../ground/named'
import { positiveInteger } from './arguments'

export interface LayoutFlags {
  layout?: string
  layoutFile?: string
}

export function withLayout(command: Command): Command {
  return command
    .option('--layout <name>', 'layout')
    .option('--layout-file <file>', 'a layout of your own, as JSON (docs/layouts.md)')
}

export function withSize(command: Command): Command {
  return command
    .requiredOption('--rows <count>', 'rows of the scale matrix', positiveInteger)
    .requiredOption('--cols <count>', 'columns of the scale matrix: K / V', positiveInteger)
}

export function layoutOf({ layout, layoutFile }: LayoutFlags): ScaleLayout {
  if ((layout === undefined) === (layoutFile === undefined)) {
    throw new UserError('usage', 'Name one layout: --layout NAME, or --layout-file FILE.')
  }
  if (layoutFile === undefined) return findLayout(layout!)
  return parseUserLayout(readNamedSync(layoutFile).toString(), layoutFile)
}

/** For commands that write a file. */
export function withOutput(command: Command): Command {
  return command
    .requiredOption('--out <file>', 'file to write')
    .option('--force', 'replace the file if it is there')
    .option('--json', 'print what was written as JSON')
}

export interface OutputFlags {
  out: string
  force?: boolean
  json?: boolean
}
