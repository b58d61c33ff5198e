/** Stand-ins of both drivers that tell of an RTX 5090 and an MI355X. */
import { buildStubCompiler, buildStubDriver } from './stubDriver'
import { buildStubHiprtc, buildStubRuntime, buildStubSmi } from './stubHip'

export function buildNewCards(folder: string): void {
  buildStubDriver(folder)
  buildStubCompiler(folder)
  buildStubRuntime(folder)
  buildStubHiprtc(folder)
  buildStubSmi(folder, 'libamd_smi.so')
}

/** What a program needs in its environment to see them. */
export const newCards = (folder: string): Record<string, string> => ({
  LD_LIBRARY_PATH: folder,
  ROCM_PATH: folder,
  STUB_GPUS: '120',
  STUB_NAME: 'NVIDIA GeForce RTX 5090',
  STUB_5090: '1'
})
