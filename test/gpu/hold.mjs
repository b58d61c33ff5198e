// Another program on the GPU: opens a session, says so, and holds it until its input ends; `node hold.mjs busy` multiplies all
// the while.
import { addon, configure, measureDefaults, open } from './addon.mjs'

const [isBusy] = process.argv.slice(2).map((word) => word === 'busy')
configure('')
await addon.detect()
const session = await open('mxfp4', ...(isBusy ? [8192, 8192, 8192] : [256, 256, 256]))
console.log('open')
process.stdin.resume()
const ended = new Promise((settle) => process.stdin.once('end', settle))
let isOver = false
ended.then(() => (isOver = true))
const backToBack = {
  ...{ warmupNs: 0, minSamples: 1, minTimeNs: 0, maxSamples: 1, sustainedNs: 1e9 },
  ...{ cold: false, recordLaunches: false, kernel: 'cublaslt-bf16' }
}
while (isBusy && !isOver)
  await session.measure({ ...measureDefaults, ...backToBack }, addon.createCancelFlag())
await ended
await session.close()
