// Writes a header with the SHA-256 of what the CPU kernels are made of, so that a recorded run tells which code it timed.
// `node sourceHash.mjs out/sourceHash.h core/formats.cpp ...`; line endings of a checkout do not count.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

const [header, ...sources] = process.argv.slice(2)
const hash = createHash('sha256')
for (const file of sources.sort()) {
  hash.update(`${file}\0${readFileSync(file, 'utf8').replaceAll('\r\n', '\n')}\0`)
}
writeFileSync(header, `#define BLOCKSCOPE_CPU_SOURCE_HASH "${hash.digest('hex')}"\n`)
