/**
 * Makes a function that runs the tasks of one path one after another, in the order in which they were asked for, within
 * this process: what reads a file, changes what it read and writes it back would else write over what another changed.
 * A task may not wait for another of the same path and function.
 */
export function turns(): <T>(path: string, task: () => Promise<T>) => Promise<T> {
  const lastOf = new Map<string, Promise<unknown>>()
  return (path, task) => {
    const mine = (lastOf.get(path) ?? Promise.resolve()).then(task, task)
    lastOf.set(path, mine)
    const forget = (): void => {
      if (lastOf.get(path) === mine) lastOf.delete(path)
    }
    mine.then(forget, forget)
    return mine
  }
}
