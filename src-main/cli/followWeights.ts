/** Work on weights in the terminal: progress in its last line, Ctrl-C stops it. */
import { clearProgress, printNote, showProgress, showsProgress } from '../ground/terminal'
import { Stopped, type WeightWork } from '../jobs/weights/weightWork'
import { duration } from './followJob'
import { localApplication } from './localApplication'

/** `onStop` says what a person may do next. */
export async function followWeights<T>(
  work: (given: WeightWork) => Promise<T>,
  onStop: string
): Promise<T> {
  const application = localApplication({})
  const abort = new AbortController()
  const interrupt = () => {
    if (abort.signal.aborted) process.exit(130)
    printNote('Stopping; Ctrl-C again to leave at once.')
    abort.abort()
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  try {
    const onProgress = progressShower()
    return await work({ engine: application.engine, signal: abort.signal, onProgress })
  } catch (error) {
    throw error instanceof Stopped ? new Stopped(onStop) : error
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    clearProgress()
    await application.close()
  }
}

function progressShower(): WeightWork['onProgress'] {
  const started = performance.now()
  let first: number | undefined
  // Nothing is said about work that is over at once.
  let last = started
  return (fraction, activity) => {
    const now = performance.now()
    first ??= fraction
    if (now - last < (showsProgress() ? 100 : 10_000)) return
    last = now
    const elapsed = (now - started) / 1000
    const left = fraction > first ? (elapsed * (1 - fraction)) / (fraction - first) : undefined
    const time = left === undefined ? '' : `  ${duration(left)} left`
    showProgress(`${Math.floor(fraction * 100)} %  ${activity}${time}`)
  }
}
