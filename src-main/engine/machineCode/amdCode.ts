/** Kernels for AMD GPUs, compiled by a clang without ROCm: the builtins that sources use are the compiler's own. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '@shared/errors'
import type { Build } from './builds'
import { findTool, runTool, type Tool } from './tools'

/** `HIPCLANG`, else ROCm's, else an LLVM's: version 20 is the first that knows gfx950's scaled instructions. */
export const findClang = (env: NodeJS.ProcessEnv = process.env): Tool =>
  findTool(['amdclang++', 'clang++-22', 'clang++-21', 'clang++-20', 'clang++'], 'HIPCLANG', env, {
    folders: ({ ROCM_PATH = '/opt/rocm' }) => [join(ROCM_PATH, 'llvm', 'bin')],
    inWords: []
  })

/** The assembly; throws a UserError with the compiler's words when the source does not compile. */
export async function assembleBuild(build: Build, folder: string, clang: string): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), 'blockscope-kernels-'))
  try {
    const assembly = join(place, 'kernel.s')
    const { failed, text } = await runTool(clang, [
      ...['-x', 'hip', '--cuda-device-only', '--no-gpu-bundle-output', '-nogpulib', '-nogpuinc'],
      ...[`--offload-arch=${build.target}`, '-O3', '-std=c++17', '-S', '-Wall', '-Werror'],
      ...build.options,
      ...['-o', assembly, join(folder, build.source)]
    ])
    if (failed) throw new UserError('failed', `does not compile:\n${text}`)
    return await readFile(assembly, 'utf8')
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}
