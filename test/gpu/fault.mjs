// One misbehaving kernel in a process of its own, since it may take the device's context with it. Prints code and message.
import { addon, configure, open, validateDefaults } from './addon.mjs'

configure('')
const session = await open('mxfp4', 256, 256, 256)
try {
  await session.validate({ ...validateDefaults, kernel: process.argv[2] }, addon.createCancelFlag())
  console.log('ok: not refused')
} catch (error) {
  console.log(`${error.code}: ${error.message}`)
}
try {
  await open('mxfp4', 256, 256, 256)
  console.log('then: not refused')
} catch (error) {
  console.log(`then ${error.code}: ${error.message}`)
}
// The context may be gone for good: nothing is closed.
process.exit(0)
