/** Source files that machine code came from, named as inside the kernel's folder. */
import { readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'

export function kernelFiles(folder: string) {
  const named = new Set<string>()
  return {
    inFolder(file: string | undefined): string | undefined {
      if (file === undefined) return undefined
      const path = relative(resolve(folder), resolve(file))
      named.add(path)
      return path
    },
    /** Files of the kernel's folder alone: a header of the toolkit is not shown. */
    sources: () =>
      Promise.all(
        [...named]
          .filter((path) => !path.startsWith('..'))
          .map(async (path) => ({ path, text: await readFile(join(folder, path), 'utf8') }))
      )
  }
}
