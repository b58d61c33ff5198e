/** `blockscope check`: tensors that a program saved, alone and beside one another. */
import type { Command } from 'commander'
import { readdirSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { batchInvariance, type InvarianceReport } from '@shared/check/batchInvariance'
import {
  checkDump,
  reportSentences,
  shownText,
  type DumpReport,
  type Tolerance
} from '@shared/check/checkDump'
import { readDump, type Dump } from '@shared/check/dump'
import { shapeClasses, shapeSentences } from '@shared/check/shapeClasses'
import { columnLines } from '@shared/columns'
import { UserError, exitCodeOf } from '@shared/errors'
import { count, shape } from '@shared/units'
import { readError } from '../ground/named'
import { print, printJson } from '../ground/terminal'
import { arrayFileOnDisk } from '../jobs/arrays/arrayFiles'
import { nonNegative } from './arguments'
import { bOrderOption } from './jobFlags'
import { addOperandFlags, operandsAs, type OperandFlags } from './operandFlags'

interface Flags extends OperandFlags {
  atol?: number
  rtol?: number
  json?: boolean
}

export function register(program: Command): void {
  addOperandFlags(
    program
      .command('check')
      .description(
        'Check operands and products that a program saved: which mistake, which shapes, and what they could not show.'
      )
      .argument(
        '<dump...>',
        'operands with C as "c": .safetensors, .npz, .pt (through a Python with torch), a folder of .npy files, or a folder of such files'
      )
      .option('--format <name>', 'format of the operands, where a file does not say it')
      .addOption(bOrderOption())
  )
    .option('--atol <value>', 'also say what this absolute tolerance lets pass', nonNegative)
    .option('--rtol <value>', 'also say what this relative tolerance lets pass', nonNegative)
    .option('--json', 'print as JSON')
    .addHelpText(
      'after',
      '\nExit code: 0 all right, 1 a mistake, or a dump that shows nothing, 2 wrong usage.'
    )
    .action(check)
}

async function check(paths: string[], flags: Flags): Promise<void> {
  const { atol, rtol } = flags
  const tolerance: Tolerance | undefined =
    atol === undefined && rtol === undefined ? undefined : { atol: atol ?? 0, rtol: rtol ?? 0 }
  const dumps: Dump[] = []
  for (const path of paths.flatMap(dumpsOf))
    dumps.push(readDump(await arrayFileOnDisk(path, ''), operandsAs(flags)))
  const reports = dumps.map((dump) => checkDump(dump, tolerance))
  const invariance = batchInvariance(dumps)
  const classes = shapeClasses(
    reports.map(({ m, n, k, verdict }) => ({ m, n, k, isRight: verdict !== 'wrong' }))
  )
  if (flags.json) printJson(JSON.stringify({ dumps: reports, shapes: classes, invariance }))
  else printReports(reports, invariance, shapeSentences(classes))
  const isRight =
    reports.every(({ verdict }) => verdict === 'right') &&
    invariance.every(({ differ }) => differ === 0)
  if (!isRight) process.exitCode = exitCodeOf.failed
}

/** A folder of .npy files is one dump, any other a folder of dumps. */
function dumpsOf(path: string): string[] {
  let names: string[]
  try {
    if (!statSync(path).isDirectory()) return [path]
    names = readdirSync(path).sort()
  } catch (error) {
    throw readError(path, error)
  }
  if (names.some((name) => extname(name) === '.npy')) return [path]
  const dumps = names.filter((name) => /\.(safetensors|npz|pt|pth)$/i.test(name))
  if (dumps.length > 0) return dumps.map((name) => join(path, name))
  throw new UserError('usage', `${path} is a folder without .safetensors, .npz, .pt or .npy files.`)
}

const verdicts = { right: 'right', wrong: 'WRONG', 'shows-nothing': 'SHOWS NOTHING' }

function printReports(
  reports: readonly DumpReport[],
  invariance: readonly InvarianceReport[],
  shapes: readonly string[]
): void {
  const rows = reports.map((report) => [
    basename(report.path),
    report.format,
    shape(report.m, report.n, report.k),
    report.output,
    `${count(report.lookedAt)} of ${count(report.elements)}`,
    count(report.wrong),
    `${shownText(report.scalesShow.a)}, ${shownText(report.scalesShow.b)}`,
    verdicts[report.verdict]
  ])
  const heads = ['dump', 'format', 'M x N x K', 'C', 'looked at', 'wrong', 'scales show', 'verdict']
  print(columnLines([heads, ...rows], (column) => column < 2))
  const said = reports.flatMap((report) =>
    reportSentences(report).map((sentence) => `${basename(report.path)}: ${sentence}`)
  )
  const notes = [...said, ...shapes, ...invariance.map(({ sentence }) => sentence)]
  if (notes.length > 0) print(['', ...notes])
}
