/**
 * What --python adds to a launch of a captured program: time of the launching thread, in which the library walks its frames.
 * Through the stand-in of the driver, whose launch costs next to nothing; runs alternate.
 */
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { newCaptureFolder, startCaptured, stubDriver } from '../support/captureStubs'

const launches = 100_000
const runs = 7
/** Of launches.py, and what calls them. */
const frames = 33

async function nsPerLaunch(python: boolean): Promise<number> {
  const folder = newCaptureFolder()
  const words = ['python3', resolve('test/support/python/launches.py'), stubDriver, `${launches}`]
  const asked = { BLOCKSCOPE_CAPTURE_PYTHON: python ? '1' : '' }
  const { code, stdout, stderr } = await startCaptured(folder, words, asked).done
  rmSync(folder, { recursive: true, force: true })
  if (code !== 0) throw new Error(`launches.py ended with ${code}: ${stderr}`)
  return Number(stdout)
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

const samples = { without: [] as number[], with: [] as number[] }
for (let run = 0; run < runs; run++) {
  samples.without.push(await nsPerLaunch(false))
  samples.with.push(await nsPerLaunch(true))
}
const [without, paths] = [median(samples.without), median(samples.with)]
console.log(
  `Python call paths: ${(paths / 1000).toFixed(2)} us a launch at ${frames} frames, ${(without / 1000).toFixed(2)} us captured without them (medians of ${runs}): ${((paths - without) / 1000).toFixed(2)} us`
)
