/** Kernels for AMD GPUs, compiled by a clang without ROCm: the builtins that sources use are the compiler's own. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MachineCode } from '@shared/contract/machineCode'
import { UserError } from '@shared/errors'
import {
  countGcnInstructions,
  diagnoseGcn,
  parseGcn,
  type GcnKernel
} from '@shared/machineCode/gcn'
import { multiprocessorOf, occupancyOf } from '@shared/measurement/occupancy'
import type { Build } from './builds'
import { kernelFiles } from './kernelFiles'
import { findTool, notFound, runTool, type Places, type Tool } from './tools'

const rocm: Places = {
  folders: ({ ROCM_PATH = '/opt/rocm' }) => [join(ROCM_PATH, 'llvm', 'bin')],
  inWords: []
}

/** `HIPCLANG`, else ROCm's, else an LLVM's: version 20 is the first that knows gfx950's scaled instructions. */
export const findClang = (env: NodeJS.ProcessEnv = process.env): Tool =>
  findTool(
    ['amdclang++', 'clang++-22', 'clang++-21', 'clang++-20', 'clang++'],
    'HIPCLANG',
    env,
    rocm
  )

/** `HIPLLD`, else ROCm's, else an LLVM's. */
export const findLinker = (env: NodeJS.ProcessEnv = process.env): Tool =>
  findTool(['ld.lld-22', 'ld.lld-21', 'ld.lld-20', 'ld.lld'], 'HIPLLD', env, rocm)

export const noClang = (clang: Tool): string =>
  `${notFound('clang++ 20 or later', clang)}: install clang-22 or ROCm 7, or set HIPCLANG to its path`

/**
 * The assembly with source lines and each instruction's encoding, which no other tool is needed for: LLVM's own assembler is
 * in every clang, llvm-objdump beside few. With a linker it is linked too, as hipRTC does: a function that is nowhere is found by
 * it alone. Throws a UserError with the tool's words when the source does not compile or link.
 */
export async function assembleBuild(
  build: Build,
  folder: string,
  clang: string,
  linker?: string
): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), 'blockscope-kernels-'))
  const run = async (failure: string, program: string, ...args: string[]) => {
    const { failed, text } = await runTool(program, args)
    if (failed) throw new UserError('failed', `${failure}:\n${text}`)
  }
  try {
    const assembly = join(place, 'kernel.s')
    const encoded = join(place, 'encoded.s')
    await run(
      'does not compile',
      clang,
      ...['-x', 'hip', '--cuda-device-only', '--no-gpu-bundle-output', '-nogpulib', '-nogpuinc'],
      ...[`--offload-arch=${build.target}`, '-O3', '-std=c++17', '-S', '-Wall', '-Werror'],
      ...['-gline-tables-only', ...build.options],
      ...['-o', assembly, join(folder, build.source)]
    )
    const assemble = (...args: string[]) =>
      run(
        'cannot be assembled',
        clang,
        ...['-cc1as', '-triple', 'amdgcn-amd-amdhsa', '-target-cpu', build.target, assembly],
        ...args
      )
    await assemble('-filetype', 'asm', '-show-encoding', '-o', encoded)
    if (linker !== undefined) {
      const object = join(place, 'kernel.o')
      await assemble('-filetype', 'obj', '-o', object)
      const linked = join(place, 'kernel.hsaco')
      await run('cannot be linked', linker, '-shared', '--no-undefined', object, '-o', linked)
    }
    return await readFile(encoded, 'utf8')
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

const bytesOfRegister = 4

/** Of a workgroup as large as the kernel allows. */
function occupancyOn(
  target: string,
  kernel: GcnKernel
): MachineCode['resources'][number]['occupancy'] {
  const computeUnit = multiprocessorOf(target)
  if (!computeUnit) return undefined
  const { activeWarps, maxWarps, limiters } = occupancyOf(
    {
      threads: kernel.threads,
      registersPerThread: kernel.registers,
      sharedMemoryBytes: kernel.ldsBytes
    },
    computeUnit
  )
  return { threads: kernel.threads, waves: activeWarps, of: maxWarps, limiters: [...limiters] }
}

/** Throws a UserError where there is no clang or the source does not compile. */
export async function amdMachineCode(
  build: Build,
  folder: string,
  env: NodeJS.ProcessEnv
): Promise<MachineCode> {
  const clang = findClang(env)
  if (!clang.path) throw new UserError('unavailable', `${noClang(clang)}.`)
  const kernels = parseGcn(await assembleBuild(build, folder, clang.path))
  const files = kernelFiles(folder)
  const warnings = kernels.flatMap((kernel) => diagnoseGcn(kernel, build.level === 'native'))
  return {
    kernel: build.kernel,
    target: build.target,
    format: build.format,
    output: build.output,
    compiler: clang.path,
    withoutCode: '',
    warnings: warnings.map((found) => ({ ...found, file: files.inFolder(found.file) })),
    resources: kernels.map((kernel) => ({
      name: kernel.name,
      registers: kernel.registers,
      accumulationRegisters: kernel.accumulationRegisters,
      scalarRegisters: kernel.scalarRegisters,
      stackBytes: kernel.scratchBytes,
      spilledBytes: kernel.spilledRegisters * bytesOfRegister,
      sharedBytes: kernel.ldsBytes,
      occupancy: occupancyOn(build.target, kernel)
    })),
    functions: kernels.map((kernel) => ({
      name: kernel.name,
      counts: countGcnInstructions(kernel),
      instructions: kernel.instructions.map(({ offset, text, file, line }) => ({
        offset,
        text,
        file: files.inFolder(file),
        line
      }))
    })),
    sources: await files.sources()
  }
}
