/** doctor: what a device and its libraries are, and whether the kernels are right there, as one file that can be sent. */
import type { Command } from 'commander'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { defaults } from '@shared/contract/defaults'
import type { Device } from '@shared/contract/devices'
import type { DeviceReport } from '@shared/contract/deviceReport'
import { sweepSpecSchema, validateSpecSchema, type JobSpec } from '@shared/contract/jobs'
import type { Run } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import {
  canCompute,
  fastestLines,
  isSound,
  pairSpec,
  pairsOf,
  sweepSpec,
  twinLines,
  twinsOf,
  validationSpec
} from '@shared/measurement/examination'
import { isFailed, outcomeOf } from '@shared/measurement/outcome'
import { counted } from '@shared/units'
import { version } from '../../package.json'
import { checkOutput, writeOutput } from '../ground/files'
import { print, printJson, printNote } from '../ground/terminal'
import type { Application } from '../jobs/handlers'
import { findDevice, problemOf } from '../jobs/plan'
import { addReport, keepOwnReport } from '../store/deviceReports'
import { defaultStoreFolder } from '../store/runStore'
import { parseSpec } from './arguments'
import { followJob } from './followJob'
import { localApplication, type LocalOptions } from './localApplication'

interface Flags extends LocalOptions {
  device: string
  output?: string
  force?: boolean
  json?: boolean
  add?: string
}

export function register(program: Command): void {
  program
    .command('doctor')
    .description(
      'Examine a device: libraries, every kernel with its own instruction against its emulation, a validation, a short sweep; as one file to send.'
    )
    .option(
      '--device <id>',
      'cpu, cuda:0, ... or auto: the first GPU, else the CPU',
      defaults.device
    )
    .option('--output <file>', 'the report (default: a name made from the device)')
    .option('--force', 'replace the file if it is there')
    .option('--add <file>', 'keep the report that someone sent: devices then says what ran there')
    .option('--store <folder>', 'folder of runs')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', '\nExit code: 0 all is as it should be, 1 it is not, 3 no such device.')
    .action(doctor)
}

async function doctor(flags: Flags): Promise<void> {
  const store = flags.store ? resolve(flags.store) : defaultStoreFolder()
  if (flags.add !== undefined) {
    const { device, createdAt } = await addReport(store, flags.add)
    return print(`${device.name} (${device.architecture}), ${createdAt.slice(0, 10)}: kept.`)
  }
  const application = localApplication(flags)
  try {
    // Triton computes on GPUs.
    const detection = await application.detect(() => flags.device === 'cpu')
    const { libraries } = detection
    const device = findDevice(flags.device, detection)
    const path = flags.output ?? `${nameOf(device)}.json`
    checkOutput(path, flags)
    const report = withoutPlaces(await examined(application, device, libraries, flags))
    const text = `${JSON.stringify(report, null, 1)}\n`
    await writeOutput(path, [text], flags)
    await keepOwnReport(store, `${nameOf(device)}.json`, text)
    const others = detection.devices.filter(({ id }) => id !== device.id)
    if (flags.json) printJson(report)
    else
      print([
        ...describe(report, others),
        `Report: ${path}. It holds what is above and the runs; no host, user or home folder is named.`
      ])
    // Who named no device asked about this machine: a GPU that was passed over is not as it should be.
    const passedOver = flags.device === 'auto' && others.some((other) => problemOf(other) !== '')
    process.exitCode = isSound(report) && !passedOver ? 0 : 1
  } finally {
    await application.close()
  }
}

/** 'blockscope-NVIDIA-H200' */
const nameOf = ({ name }: Device) => `blockscope-${name.replace(/[^\w.]+/g, '-')}`

async function examined(
  application: Application,
  device: Device,
  libraries: DeviceReport['libraries'],
  { json }: Flags
): Promise<DeviceReport> {
  const run = async (what: string, spec: JobSpec): Promise<Run> => {
    if (!json) printNote(`${what} ...`)
    const { run: done } = await followJob(application, spec, { quiet: true })
    if (done.status === 'cancelled')
      throw new UserError('failed', 'Cancelled; no report is written.')
    return done
  }
  const twins = []
  for (const pair of pairsOf(device)) {
    const spec = parseSpec(validateSpecSchema, pairSpec(device, pair))
    twins.push(...twinsOf(pair, await run(`${pair.kernel.id} against its emulation`, spec)))
  }
  const found = {
    ...{ blockscopeDevice: 1 as const, createdAt: new Date().toISOString(), appVersion: version },
    ...{ system: `${process.platform} ${process.arch}`, device, libraries, twins }
  }
  if (!canCompute(device)) return found
  const validation = await run(
    'Every kernel in every format',
    parseSpec(validateSpecSchema, validationSpec(device))
  )
  const sweep = await run('A short sweep', parseSpec(sweepSpecSchema, sweepSpec(device)))
  return { ...found, validation, sweep }
}

/** A report is sent to others: what names this machine and its user is left out. */
function withoutPlaces(report: DeviceReport): DeviceReport {
  const blank = (run: Run | undefined) =>
    run && { ...run, host: { ...run.host, name: '' }, label: '', notes: '' }
  const { validation, sweep } = report
  const text = JSON.stringify({
    ...report,
    ...(validation && { validation: blank(validation) }),
    ...(sweep && { sweep: blank(sweep) })
  })
  const home = JSON.stringify(homedir()).slice(1, -1)
  return JSON.parse(home.length > 1 ? text.replaceAll(home, '~') : text) as DeviceReport
}

function describe(
  { device, libraries, twins, validation, sweep }: DeviceReport,
  others: readonly Device[]
): string[] {
  const driver = device.properties['driverVersion']
  const lines = [
    `Device      ${device.name} (${device.id}, ${device.architecture}${driver ? `, driver ${driver}` : ''})`,
    ...others.map(
      (other) => `            not examined: ${other.id}, ${problemOf(other) || other.name}`
    )
  ]
  for (const { name, found, version: has, reason, remedy } of libraries)
    lines.push(`Library     ${name} ${found ? has : `missing: ${reason} ${remedy}`}`.trimEnd())
  const agreement = twinLines(twins)
  lines.push(
    ...(agreement.length > 0
      ? agreement.map((line) => `Emulation   ${line}`)
      : ['Emulation   no kernel here uses a block-scaled instruction of this device'])
  )
  if (!validation) return [...lines, 'Kernels     none computes anything on this device']
  lines.push(`Validation  ${outcomeOf(validation).sentence}`)
  const reasons = new Map<string, string[]>()
  for (const step of validation.steps.filter(isFailed)) {
    const reason = step.reason || step.disposition
    reasons.set(reason, [...(reasons.get(reason) ?? []), `${step.kernel} ${step.format}`])
  }
  for (const [reason, [first, ...others]] of reasons) {
    const more = others.length > 0 ? ` and ${counted(others.length, 'other step')}` : ''
    lines.push(`            ${first}${more}: ${reason}`)
  }
  if (sweep) lines.push(...fastestLines(sweep).map((line) => `Sweep       ${line}`))
  return lines
}
