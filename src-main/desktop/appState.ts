/** What the app remembers from start to start: where its window was, and which files were opened last. */
import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { OutputFile } from '../ground/files'

const boundsSchema = v.object({
  x: v.optional(v.pipe(v.number(), v.integer())),
  y: v.optional(v.pipe(v.number(), v.integer())),
  width: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(20_000)),
  height: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(20_000))
})

const appStateSchema = v.object({
  window: v.object({ bounds: boundsSchema, isMaximized: v.boolean() }),
  recentFiles: v.array(v.string())
})
export type AppState = v.InferOutput<typeof appStateSchema>
export type WindowState = AppState['window']
type Rectangle = { x: number; y: number; width: number; height: number }

const firstState: AppState = {
  window: { bounds: { width: 1440, height: 900 }, isMaximized: false },
  recentFiles: []
}

const recentFilesKept = 10
/** This much of the window must lie on a display, or its title bar could not be reached. */
const visiblePixels = 100

/** What was kept at `path`; a state that is missing or damaged is as good as none. */
export function readAppState(path: string): AppState {
  try {
    const parsed = v.safeParse(appStateSchema, JSON.parse(readFileSync(path, 'utf8')))
    return parsed.success ? parsed.output : firstState
  } catch {
    return firstState
  }
}

/** Replaces the file as a whole, so that a crash leaves the old one or the new one. */
export function writeAppState(path: string, state: AppState): void {
  const file = new OutputFile(path, { force: true })
  file.write(JSON.stringify(state, null, 2))
  file.commit()
}

export function withRecentFile(files: readonly string[], path: string): string[] {
  return [path, ...files.filter((file) => file !== path)].slice(0, recentFilesKept)
}

/** The state with a position only if the window would be seen there: a display may be gone since. */
export function onDisplay(state: WindowState, workAreas: readonly Rectangle[]): WindowState {
  const { x, y, width, height } = state.bounds
  if (x === undefined || y === undefined) return state
  const isVisible = workAreas.some((area) => {
    const across = Math.min(x + width, area.x + area.width) - Math.max(x, area.x)
    const isTopInside = y >= area.y && y < area.y + area.height - visiblePixels / 2
    return across >= visiblePixels && isTopInside
  })
  return isVisible ? state : { ...state, bounds: { width, height } }
}
