import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UserError, messageOf } from '@shared/errors'
import type { NativeBinding } from './nativeBinding'

/** Where what node-gyp builds may be: a checkout (from out/node or out/main), a packaged app. */
function builtPlaces(name: string): string[] {
  const here = dirname(fileURLToPath(import.meta.url))
  const resources = (process as { resourcesPath?: string }).resourcesPath
  const built = join('native', 'build', 'Release', name)
  return [
    join(here, '..', '..', built),
    join(here, '..', '..', '..', built),
    resources && join(resources, 'app.asar.unpacked', built)
  ].filter((path): path is string => Boolean(path))
}

/** A file that node-gyp built; undefined where it is not there. */
export function builtFile(name: string): string | undefined {
  const found = builtPlaces(name).find((path) => existsSync(path))
  return found && resolve(found)
}

function candidates(): string[] {
  const named = process.env.BLOCKSCOPE_ADDON
  return [...(named ? [named] : []), ...builtPlaces('blockscope.node')]
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
