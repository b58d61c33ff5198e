/** --timings: where a command's time went, from the start of its process on. */
import type { Application } from '../jobs/handlers'
import { printNote } from '../ground/terminal'

export const timingsWords =
  'also say where the time went: on stderr, by call of the engine and what it did'

/** Below this a line says nothing. */
const leastSeconds = 0.001

export function printTimings(
  { engine }: Pick<Application, 'engine'>,
  flags: { timings?: boolean }
): void {
  if (!flags.timings) return
  const whole = process.uptime()
  const spent = engine.clock.all
  const rest = whole - spent.reduce((sum, { seconds }) => sum + seconds, 0)
  const line = (seconds: number, calls: string, what: string) =>
    `${seconds.toFixed(3).padStart(10)} s ${calls.padStart(7)}  ${what}`
  const lines = [
    `Where ${whole.toFixed(2)} s went:`,
    ...spent
      .filter(({ seconds }) => seconds >= leastSeconds)
      .map(({ method, phase, seconds, calls }) =>
        line(seconds, `${calls} x`, `${method}${phase && `: ${phase}`}`)
      ),
    line(rest, '', 'beside the engine: start of the program, planning, records, output')
  ]
  for (const one of lines) printNote(one)
}
