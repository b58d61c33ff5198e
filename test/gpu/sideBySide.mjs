// Work that is mostly waiting for compilers or other processes, several pieces at a time.
import { availableParallelism } from 'node:os'

/**
 * Each of `tasks` by `work`, in their order, `atOnce` at a time; none is begun after `end`, a time in ms. What `work` gave for each
 * that was begun.
 * @template T, R
 * @param {readonly T[]} tasks @param {(task: T) => Promise<R>} work @param {{ atOnce?: number, end?: number }} [limits]
 * @returns {Promise<R[]>}
 */
export async function sideBySide(
  tasks,
  work,
  { atOnce = availableParallelism(), end = Infinity } = {}
) {
  const given = []
  let begun = 0
  const next = async () => {
    while (begun < tasks.length && Date.now() < end) {
      const at = begun++
      given[at] = await work(tasks[at])
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, atOnce) }, next))
  return given
}
