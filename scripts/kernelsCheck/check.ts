/** Compiles one build and says what is wrong with it. */
import { join } from 'node:path'
import { messageOf } from '@shared/errors'
import { diagnoseCode, diagnoseLog } from '@shared/machineCode/diagnose'
import { diagnoseGcn, parseGcn } from '@shared/machineCode/gcn'
import { scalesInMainLoop, type SassFunction } from '@shared/machineCode/sass'
import { assembleBuild } from '../../src-main/engine/machineCode/amdCode'
import type { Build } from '../../src-main/engine/machineCode/builds'
import { compileBuild } from '../../src-main/engine/machineCode/machineCode'
import type { Tool } from '../../src-main/engine/machineCode/tools'
import type { NativeBinding } from '../../src-main/engine/nativeBinding'

/** What is wrong with a build, in sentences; none when it is as it should be. */
export interface Checked {
  wrong: string[]
  /** Why its machine code was not read, in one sentence; '' where it was. */
  withoutCode: string
}

/** Who starts early and reads what the launch before has not written yet: griddepcontrol.wait is ACQBULK in machine code. */
const doesNotWait = (functions: readonly SassFunction[], { dependents }: Build): string[] =>
  functions
    .filter(({ name }) => dependents.includes(name))
    .filter(({ instructions }) => !instructions.some(({ opcode }) => opcode === 'ACQBULK'))
    .map(({ name }) => `${name} is launched as dependent and does not wait (griddepcontrol.wait)`)

export async function checkBuild(
  build: Build,
  folder: string,
  nvcc: string,
  nvdisasm: Tool
): Promise<Checked> {
  try {
    const { log, functions, withoutCode } = await compileBuild(build, folder, nvcc, nvdisasm)
    const code = diagnoseCode(functions)
    if (build.level === 'native' && !withoutCode && !functions.some(scalesInMainLoop))
      code.push({ text: 'no main loop has a block-scaled matrix instruction' })
    // An emulated instruction is a function call: what its caller holds is spilled around it.
    const ofLog = diagnoseLog(log).filter(
      ({ function: name }) => !name || build.level !== 'emulated'
    )
    const texts = [...ofLog, ...code].map(({ text }) => text)
    return { wrong: [...texts, ...doesNotWait(functions, build)], withoutCode }
  } catch (error) {
    return { wrong: [messageOf(error)], withoutCode: '' }
  }
}

/** As a session compiles it: NVRTC refuses what nvcc takes, such as functions that are not said to be the device's. */
export async function checkByNvrtc(
  addon: Pick<NativeBinding, 'compileForCuda'>,
  { source, target, options }: Build,
  folder: string
): Promise<string[]> {
  try {
    await addon.compileForCuda(join(folder, source), target, options)
    return []
  } catch (error) {
    return [`by NVRTC: ${messageOf(error)}`]
  }
}

/** The same of a build for an AMD GPU, by a clang and a linker where there is one. */
export async function checkAmdBuild(
  build: Build,
  folder: string,
  clang: string,
  linker?: string
): Promise<string[]> {
  try {
    const kernels = parseGcn(await assembleBuild(build, folder, clang, linker))
    const wrong = kernels.flatMap((kernel) => diagnoseGcn(kernel, build.level === 'native'))
    return wrong.map(({ text }) => text)
  } catch (error) {
    return [messageOf(error)]
  }
}
