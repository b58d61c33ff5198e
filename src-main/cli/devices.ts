import type { Command } from 'commander'
import {
  featuresHere,
  featureWords,
  listedKernels,
  type Detection,
  type Device,
  type Kernel
} from '@shared/contract/devices'
import { groupedBy } from '@shared/groupedBy'
import { counted } from '@shared/units'
import { print, printJson } from '../ground/terminal'
import { connectInProcess } from '../transports/inProcess'
import { formatListText } from './formatList'
import { localApplication, type LocalOptions } from './localApplication'

export function register(program: Command): void {
  program
    .command('devices')
    .description('Devices, what each can compute, and the libraries found or missing.')
    .option('--kernel-dir <folder...>', 'folder with your own kernels and their manifest.json')
    .option('--emulated', 'also kernels whose matrix instruction is emulated on the device')
    .option('--json', 'print as JSON')
    .action(devices)
}

async function devices(
  flags: LocalOptions & { emulated?: boolean; json?: boolean }
): Promise<void> {
  const application = localApplication(flags)
  try {
    const client = connectInProcess(application.handlers)
    const detection = await client.call('devices.detect', {})
    const { targets } = await client.call('app.info', {})
    if (flags.json) printJson({ ...detection, targets })
    else print([...describe(detection, flags), ...describeTargets(targets)])
  } finally {
    await application.close()
  }
}

export function describe(
  { devices, libraries, warnings }: Detection,
  { emulated = false }: { emulated?: boolean }
): string[] {
  const lines = devices.flatMap((device) => describeDevice(device, emulated))
  lines.push('Libraries')
  for (const library of libraries) {
    const state = library.found
      ? `${library.version} at ${library.path}`
      : `missing: ${library.reason} ${library.remedy}`
    lines.push(`  ${library.name.padEnd(14)}${state}`)
  }
  lines.push(...warnings.map((warning) => `Warning: ${warning}`))
  return lines
}

function describeDevice(device: Device, withEmulations: boolean): string[] {
  const properties = Object.entries(device.properties).map(([key, value]) => `${key}=${value}`)
  const lines = [
    `${device.id}  ${device.name}  ${device.architecture}`,
    `  ${properties.join('  ')}`
  ]
  const shown = listedKernels(device.kernels, withEmulations)
  for (const kernel of shown) {
    const role = kernel.baseline ? ' (baseline, not the block-scaled operation)' : ''
    lines.push(`  ${kernel.id} (${kernel.provider})${role}: ${kernel.summary}`)
    for (const [formats, level, reason] of alike(kernel.capabilities))
      lines.push(...line(level, formats, reason))
    for (const feature of featuresHere(kernel)) {
      const [name, level] = featureWords(feature)
      lines.push(...line(level, name, feature.reason))
    }
  }
  const hidden = device.kernels.length - shown.length
  if (hidden > 0)
    lines.push(
      `  ${counted(hidden, 'kernel')} with an emulated instruction: --emulated lists what it computes.`
    )
  return [...lines, '']
}

const line = (level: string, what: string, reason: string) => [
  `    ${level.padEnd(12)} ${what}`,
  ...(reason ? [`${' '.repeat(17)}${reason}`] : [])
]

/** Formats that are computed the same way, together. */
function alike(
  capabilities: Kernel['capabilities']
): [formats: string, level: string, reason: string][] {
  const groups = groupedBy(capabilities, ({ level, reason }) => JSON.stringify([level, reason]))
  return [...groups.values()].map((group) => [
    formatListText(group.map(({ format }) => format)),
    group[0]!.level,
    group[0]!.reason
  ])
}

function describeTargets(
  targets: { architecture: string; instruction: string; state: string; note: string }[]
): string[] {
  const lines = targets.map(
    (t) => `  ${t.state.padEnd(10)}${t.architecture}: ${t.instruction}. ${t.note}`
  )
  return ['Targets', ...lines]
}
