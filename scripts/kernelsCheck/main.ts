/**
 * Compiles every kernel of a manifest for every architecture it claims and reads the machine code.
 * npm run kernels:check -- [kernel folder] [--only <part of kernel.target.format.output>]
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { exitCodeOf, messageOf, UserError } from '@shared/errors'
import { listBuilds } from '../../src-main/engine/machineCode/builds'
import { findTool, notFound } from '../../src-main/engine/machineCode/nvidiaTools'
import { checkBuild } from './check'

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { only: { type: 'string', default: '' } }
  })
  const folder = positionals[0] ?? 'resources/kernels/cuda'
  const builds = listBuilds(folder).filter(({ name }) => name.includes(values.only))
  if (!builds.length)
    throw new UserError('usage', `No kernel of ${folder} has "${values.only}" in its name.`)
  const nvcc = findTool('nvcc', 'NVCC')
  if (!nvcc.path)
    throw new UserError(
      'unavailable',
      `${notFound('nvcc', nvcc)}: install the CUDA toolkit (13.0 or later) or set NVCC to its path; no kernel was checked.`
    )
  const nvdisasm = findTool('nvdisasm', 'NVDISASM')

  let next = 0
  let failed = 0
  const work = async () => {
    for (let build = builds[next++]; build; build = builds[next++]) {
      const wrong = await checkBuild(build, folder, nvcc.path!, nvdisasm.path)
      if (wrong.length) failed++
      for (const sentence of wrong) console.log(`${build.name}: ${sentence}`)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  console.log(`${builds.length - failed} passed, ${failed} failed`)
  if (failed) return exitCodeOf.failed
  if (nvdisasm.path) return 0
  console.error(
    `${notFound('nvdisasm', nvdisasm)}: compiled only; main loops were not looked into for fences and local memory.`
  )
  return exitCodeOf.unavailable
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(messageOf(error))
  process.exitCode = error instanceof UserError ? exitCodeOf[error.kind] : 1
}
