/**
 * Compiles every kernel of a manifest for every architecture it claims and reads the machine code.
 * npm run kernels:check -- [kernel folders] [--only <part of kernel.target.format.output>]
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { exitCodeOf, messageOf, UserError } from '@shared/errors'
import { counted } from '@shared/units'
import { loadAddon } from '../../src-main/engine/loadAddon'
import { findClang, findLinker, noClang } from '../../src-main/engine/machineCode/amdCode'
import { isAmdTarget, listBuilds } from '../../src-main/engine/machineCode/builds'
import { findTool, notFound } from '../../src-main/engine/machineCode/tools'
import type { NativeBinding } from '../../src-main/engine/nativeBinding'
import { checkAmdBuild, checkBuild, checkByNvrtc } from './check'

/** The addon where it finds NVRTC, or why not. */
async function findNvrtc(): Promise<{ addon?: NativeBinding; lacking: string }> {
  try {
    const addon = loadAddon()
    const { libraries } = await addon.detect()
    const nvrtc = libraries.find(({ name }) => name === 'NVRTC')
    if (nvrtc?.found) return { addon, lacking: '' }
    return { lacking: nvrtc ? nvrtc.reason : 'The addon was built without CUDA.' }
  } catch (error) {
    return { lacking: messageOf(error) }
  }
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { only: { type: 'string', default: '' } }
  })
  const folders =
    positionals.length > 0 ? positionals : ['resources/kernels/cuda', 'resources/kernels/hip']
  const all = folders.flatMap((folder) => listBuilds(folder).map((build) => ({ folder, build })))
  const wanted = all.filter(({ build }) => build.name.includes(values.only))
  if (!wanted.length)
    throw new UserError(
      'usage',
      `No kernel of ${folders.join(', ')} has "${values.only}" in its name.`
    )
  const nvcc = findTool('nvcc', 'NVCC')
  const nvdisasm = findTool('nvdisasm', 'NVDISASM')
  const clang = findClang()
  const linker = findLinker()
  const nvrtc = await findNvrtc()
  /** Builds that were compiled only, by the reason. */
  const notRead = new Map<string, number>()
  const check = async ({ folder, build }: (typeof wanted)[number]) => {
    if (isAmdTarget(build.target))
      return clang.path && checkAmdBuild(build, folder, clang.path, linker.path)
    const byNvcc = nvcc.path && (await checkBuild(build, folder, nvcc.path, nvdisasm))
    const byNvrtc = nvrtc.addon && (await checkByNvrtc(nvrtc.addon, build, folder))
    if (byNvcc && byNvcc.withoutCode)
      notRead.set(byNvcc.withoutCode, (notRead.get(byNvcc.withoutCode) ?? 0) + 1)
    return (byNvcc || byNvrtc) && [...(byNvcc ? byNvcc.wrong : []), ...(byNvrtc || [])]
  }

  let next = 0
  let checked = 0
  let failed = 0
  const work = async () => {
    for (let one = wanted[next++]; one; one = wanted[next++]) {
      const wrong = await check(one)
      if (!wrong) continue
      checked++
      if (wrong.length) failed++
      for (const sentence of wrong) console.log(`${one.build.name}: ${sentence}`)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  console.log(`${checked - failed} passed, ${failed} failed`)
  if (failed) return exitCodeOf.failed

  const forAmd = wanted.filter(({ build }) => isAmdTarget(build.target)).length
  const forNvidia = wanted.length - forAmd
  const lacking = [
    forNvidia > 0 &&
      !nvcc.path &&
      `${notFound('nvcc', nvcc)}: install the CUDA toolkit (13.0 or later) or set NVCC to its path; none of ${forNvidia} builds for NVIDIA GPUs was looked into.`,
    ...[...notRead].map(
      ([reason, builds]) =>
        `${reason} The main loops of ${counted(builds, 'build')} were not looked into for fences and local memory.`
    ),
    forNvidia > 0 &&
      !nvrtc.addon &&
      `${nvrtc.lacking} None of ${forNvidia} builds for NVIDIA GPUs was compiled as a session does it.`,
    forAmd > 0 &&
      clang.path &&
      !linker.path &&
      `${notFound('ld.lld', linker)}: install lld-22 or set HIPLLD to its path; none of ${forAmd} builds for AMD GPUs was linked.`,
    forAmd > 0 &&
      !clang.path &&
      `${noClang(clang)}; none of ${forAmd} builds for AMD GPUs was checked.`
  ].filter((one) => typeof one === 'string')
  for (const sentence of lacking) console.error(sentence)
  return lacking.length > 0 ? exitCodeOf.unavailable : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(messageOf(error))
  process.exitCode = error instanceof UserError ? exitCodeOf[error.kind] : 1
}
