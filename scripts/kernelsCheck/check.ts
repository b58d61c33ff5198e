/** Compiles one build and says what is wrong with it. */
import { messageOf } from '@shared/errors'
import { diagnoseCode, diagnoseLog } from '@shared/machineCode/diagnose'
import { parseSass } from '@shared/machineCode/sass'
import type { Build } from '../../src-main/engine/machineCode/builds'
import { compileBuild } from '../../src-main/engine/machineCode/machineCode'

/** Sentences about what is wrong with the build; none when it is as it should be. */
export async function checkBuild(
  build: Build,
  folder: string,
  nvcc: string,
  nvdisasm: string | undefined
): Promise<string[]> {
  try {
    const { log, disassembly } = await compileBuild(build, folder, nvcc, nvdisasm)
    const code = disassembly === undefined ? [] : diagnoseCode(parseSass(disassembly))
    return [...diagnoseLog(log), ...code].map(({ text }) => text)
  } catch (error) {
    return [messageOf(error)]
  }
}
