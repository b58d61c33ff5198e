/** A kernel's machine code beside its sources: compiled by the toolkit found here, disassembled by what is installed. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MachineCode } from '@shared/contract/machineCode'
import { UserError } from '@shared/errors'
import { knownName } from '@shared/knownName'
import { diagnoseCode, diagnoseLog } from '@shared/machineCode/diagnose'
import { resourcesIn } from '@shared/machineCode/ptxasLog'
import { countInstructions, parseSass, type SassFunction } from '@shared/machineCode/sass'
import { amdMachineCode } from './amdCode'
import { isAmdTarget, listBuilds, type Build } from './builds'
import { kernelFiles } from './kernelFiles'
import { findTool, notFound, runTool, type Tool } from './tools'

const ofTheCompiler = "registers and spills are the compiler's own words"
const missing = (nvdisasm: Tool): string =>
  `${notFound('nvdisasm', nvdisasm)}: the CUDA toolkit and Python's triton package have it; ${ofTheCompiler}.`

export interface Compiled {
  /** What the compiler said. */
  log: string
  /** With source lines, by nvdisasm; none where that is missing or too old. */
  functions: SassFunction[]
  /** Why there are none, in one sentence; '' where there are. */
  withoutCode: string
}

/** Throws a UserError with the compiler's words when the source does not compile, or nvdisasm's when it fails. */
export async function compileBuild(
  build: Build,
  folder: string,
  nvcc: string,
  nvdisasm: Tool
): Promise<Compiled> {
  const place = await mkdtemp(join(tmpdir(), 'blockscope-kernels-'))
  try {
    const cubin = join(place, 'kernel.cubin')
    const architecture = build.target.replace('sm_', 'compute_')
    const compiled = await runTool(nvcc, [
      ...[
        '-std=c++17',
        '-cubin',
        `-gencode=arch=${architecture},code=${build.target}`,
        '-lineinfo'
      ],
      ...[`-I${folder}`, '-Xptxas=-v,-warn-spills', ...build.options],
      ...['-o', cubin, join(folder, build.source)]
    ])
    if (compiled.failed) throw new UserError('failed', `does not compile:\n${compiled.text}`)
    const log = compiled.text
    if (!nvdisasm.path) return { log, functions: [], withoutCode: missing(nvdisasm) }
    const disassembled = await runTool(nvdisasm.path, ['-g', '-c', cubin])
    if (!disassembled.failed)
      return { log, functions: parseSass(disassembled.text), withoutCode: '' }
    if (disassembled.text.includes('Cannot decode architecture')) {
      const withoutCode = `${nvdisasm.path} does not know ${build.target}: install a newer CUDA toolkit or set NVDISASM to a newer one; ${ofTheCompiler}.`
      return { log, functions: [], withoutCode }
    }
    throw new UserError('failed', `cannot be disassembled:\n${disassembled.text}`)
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

export interface Wanted {
  kernel: string
  /** 'sm_90', 'sm_90a'; the first target of the kernel that has it. '' for its first. */
  architecture: string
  /** '' for the kernel's first. */
  format: string
  output: string
}

/** The build of a kernel's row that fits; throws a UserError that names what there is. */
export function findBuild(
  folders: readonly string[],
  wanted: Wanted
): { folder: string; build: Build } {
  const all = folders.flatMap((folder) =>
    listBuilds(folder, 'all').map((build) => ({ folder, build }))
  )
  const ids = [...new Set(all.map(({ build }) => build.kernel))]
  const kernel = knownName(wanted.kernel, ids, 'kernel that comes as source', 'Kernels')
  const own = all.filter(({ build }) => build.kernel === kernel)
  const pick = (what: string, value: string, of: (build: Build) => string, left: typeof own) => {
    if (value === '') return left
    const found = left.filter(({ build }) => of(build) === value)
    if (found.length > 0) return found
    const known = [...new Set(left.map(({ build }) => of(build)))].join(', ')
    throw new UserError(
      'usage',
      `${kernel} is not built for ${what} ${value}. It is for: ${known}.`
    )
  }
  // A device says sm_90 where a kernel that needs its own instructions says sm_90a.
  const plain = wanted.architecture.replace(/[af]$/, '')
  const targets = own.some(({ build }) => build.target === wanted.architecture)
    ? pick('the target', wanted.architecture, ({ target }) => target, own)
    : pick('the target', plain, ({ target }) => target.replace(/[af]$/, ''), own)
  const formats = pick('the format', wanted.format, ({ format }) => format, targets)
  return pick('the output', wanted.output, ({ output }) => output, formats)[0]!
}

/** Throws a UserError where there is no compiler for the target, the kernel is not known, or its source does not compile. */
export async function machineCodeOf(
  folders: readonly string[],
  wanted: Wanted,
  env: NodeJS.ProcessEnv = process.env
): Promise<MachineCode> {
  const { folder, build } = findBuild(folders, wanted)
  if (isAmdTarget(build.target)) return amdMachineCode(build, folder, env)
  const nvcc = findTool('nvcc', 'NVCC', env)
  if (!nvcc.path)
    throw new UserError(
      'unavailable',
      `${notFound('nvcc', nvcc)}: install the CUDA toolkit (13.0 or later) or set NVCC to its path.`
    )
  const nvdisasm = findTool('nvdisasm', 'NVDISASM', env)
  const { log, functions, withoutCode } = await compileBuild(build, folder, nvcc.path, nvdisasm)
  const resources = new Map(resourcesIn(log).map((one) => [one.name, one]))
  const files = kernelFiles(folder)
  return {
    kernel: build.kernel,
    target: build.target,
    format: build.format,
    output: build.output,
    compiler: nvcc.path,
    withoutCode,
    warnings: [...diagnoseLog(log), ...diagnoseCode(functions)].map((found) => ({
      ...found,
      file: files.inFolder(found.file)
    })),
    resources: [...resources.values()],
    functions: functions.map((one) => ({
      name: one.name,
      counts: countInstructions(one),
      instructions: one.instructions.map(({ offset, guard, opcode, operands, file, line }) => ({
        offset,
        text: [guard, opcode, operands].filter(Boolean).join(' '),
        file: files.inFolder(file),
        line
      }))
    })),
    sources: await files.sources()
  }
}
