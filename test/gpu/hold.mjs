// Another program on the GPU: opens a session, says so, and holds it until its input ends.
import { addon, configure, open } from './addon.mjs'

configure('')
await addon.detect()
const session = await open('mxfp4', 256, 256, 256)
console.log('open')
process.stdin.resume()
await new Promise((ended) => process.stdin.once('end', ended))
await session.close()
