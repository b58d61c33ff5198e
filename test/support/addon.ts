import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type { NativeBinding } from '../../src-main/engine/nativeBinding'

/** The addon itself, in this process; tests of faults use the engine process instead. */
export function loadTestAddon(): NativeBinding {
  const require = createRequire(import.meta.url)
  const addon = require(resolve('native/build/Release/blockscope.node')) as NativeBinding
  addon.configure({ kernelSources: [], cacheDirectory: '' })
  return addon
}
