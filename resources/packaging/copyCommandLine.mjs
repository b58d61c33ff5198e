/**
 * Puts the command line beside the packaged app, in resources/cli with the paths of a checkout. electron-builder leaves out
 * of the app what it copies as an extra resource, so what both hold is copied here.
 */
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'

const parts = [
  'package.json',
  'out/node',
  'out/renderer',
  'native/build/Release/blockscope.node',
  // Linux alone has it.
  'native/build/Release/blockscope_inject.node',
  'resources/examples',
  'resources/kernels',
  'resources/providers'
]

export default function copyCommandLine({ packager, appOutDir }) {
  const target = join(packager.getResourcesDir(appOutDir), 'cli')
  for (const part of parts.filter((path) => existsSync(join(packager.projectDir, path))))
    cpSync(join(packager.projectDir, part), join(target, part), {
      recursive: true,
      filter: (path) => !path.endsWith('.map')
    })
}
