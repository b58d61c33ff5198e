import { buildAddon, buildCaptureStubs, buildProgram } from './build'

export default async function setup(): Promise<void> {
  await Promise.all([buildAddon(), buildProgram(), buildCaptureStubs()])
}
