// One kernel measured, its launches' CUPTI times printed as JSON: by itself, and under ncu.
import { addon, configure, measureDefaults, median, open, launchTimes } from '../addon.mjs'

const [kernel, format, size, cache] = process.argv.slice(2)
configure(cache ?? '')
const session = await open(format, Number(size), Number(size), Number(size))
const flag = addon.createCancelFlag()
const times = new Map()
let events = 0
// Single launches on a rested GPU: ncu serialises them, and back to back the power limit would lower the clock.
const restMs = 150
const underNcu = Boolean(process.env.NCU)
for (let i = 0; i < 40; i++) {
  const request = {
    ...measureDefaults,
    kernel,
    fixedSamples: 1,
    warmupLaunches: 0,
    warmupNs: 0,
    recordLaunches: !underNcu
  }
  const measured = await session.measure(request, flag)
  events = median(measured.samplesNs)
  for (const [at, ns] of launchTimes(measured.launches).entries()) {
    const { name } = measured.launches[at]
    times.set(name, [...(times.get(name) ?? []), ns])
  }
  await new Promise((resolve) => setTimeout(resolve, restMs))
}
console.log(
  JSON.stringify({
    kernel,
    eventsNs: events,
    launches: [...times].map(([name, ns]) => ({ name, medianNs: median(ns), ns }))
  })
)
await session.close()
