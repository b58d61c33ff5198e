/**
 * What to call the profiles of files, for the heads of columns: the name without its ending, with as many folders before
 * it as tell them apart; a number where they are one file.
 * @param shown what of a name is shown
 */
export function profileNames(
  files: readonly string[],
  shown: (name: string) => string = withoutEnding
): string[] {
  const paths = files.map((file) =>
    file.split(/[/\\]+/).filter((part) => part !== '' && part !== '.')
  )
  const longest = Math.max(...paths.map((path) => path.length))
  for (let parts = 1; parts <= longest; parts++) {
    const names = paths.map((path) => shown(path.slice(-parts).join('/')))
    if (new Set(names).size === names.length) return names
  }
  const names = paths.map((path) => shown(path[path.length - 1] ?? ''))
  return names.map((name, at) => {
    const before = names.slice(0, at).filter((other) => other === name).length
    return before === 0 ? name : `${name} (${before + 1})`
  })
}

/** 'run.hatchet' as 'run'. */
function withoutEnding(name: string): string {
  return name.replace(/(?<=[^/])\.[^./]*$/, '')
}
