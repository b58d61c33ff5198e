/** What the layout commands share: which layout, of how many scales, files of raw bytes, and what is written. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { messageOf, UserError } from '@shared/errors'
import type { ScaleLayout } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { parseUserLayout } from '@shared/layouts/userLayout'
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
  return parseUserLayout(readBytes(layoutFile).toString('utf8'), layoutFile)
}

export function readBytes(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new UserError('usage', `${file} cannot be read: ${messageOf(error)}.`)
  }
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
