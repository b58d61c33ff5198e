// Prints why libraries are missing, for the tests of the words.
import { addon, configure } from './addon.mjs'

configure('')
const { libraries } = await addon.detect()
console.log(libraries.map((l) => l.reason).join(' '))
