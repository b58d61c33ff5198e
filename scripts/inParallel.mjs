// `node scripts/inParallel.mjs lint typecheck`: npm scripts side by side, each one's words together; fails when one fails.
import { spawn } from 'node:child_process'

const codes = await Promise.all(
  process.argv.slice(2).map(
    (script) =>
      new Promise((resolve) => {
        const isWindows = process.platform === 'win32'
        const child = spawn('npm', ['run', '--silent', script], { shell: isWindows })
        /** @type {Buffer[]} */
        const words = []
        child.stdout.on('data', (chunk) => words.push(chunk))
        child.stderr.on('data', (chunk) => words.push(chunk))
        child.on('close', (code) => {
          process.stdout.write(Buffer.concat(words))
          if (code !== 0) console.error(`npm run ${script} ended with code ${code}.`)
          resolve(code)
        })
      })
  )
)
process.exitCode = codes.every((code) => code === 0) ? 0 : 1
