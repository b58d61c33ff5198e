import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UserError, messageOf } from '@shared/errors'
import type { NativeBinding } from './nativeBinding'

/** Where the addon may be, most specific first: a checkout (from out/node or out/main), a packaged app. */
function candidates(): string[] {
  const here = dirname(fileURLToPath(import.meta.url))
  const resources = (process as { resourcesPath?: string }).resourcesPath
  const built = join('native', 'build', 'Release', 'blockscope.node')
  return [
    process.env.BLOCKSCOPE_ADDON,
    join(here, '..', '..', built),
    join(here, '..', '..', '..', built),
    resources && join(resources, 'app.asar.unpacked', built)
  ].filter((path): path is string => Boolean(path))
}

/** Loads the native addon. Throws a UserError that lists what was tried and what to do. */
export function loadAddon(): NativeBinding {
  const require = createRequire(import.meta.url)
  const tried: string[] = []
  for (const path of candidates()) {
    if (!existsSync(path)) {
      tried.push(`${path}: not there`)
      continue
    }
    try {
      return require(path) as NativeBinding
    } catch (error) {
      tried.push(`${path}: ${messageOf(error)}`)
    }
  }
  throw new UserError(
    'unavailable',
    `The native addon could not be loaded. Tried:\n${tried.map((line) => `  ${line}`).join('\n')}\n` +
      'Build it with "npm rebuild" or "npx node-gyp rebuild -C native"; that needs a C++20 compiler and make.'
  )
}
