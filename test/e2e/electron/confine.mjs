#!/usr/bin/env node
/**
 * Stands in for Electron's executable where the tests run as root, as they do in a container: starts the real one as an
 * ordinary user, for whom its sandbox works, in a network namespace without a network. Playwright's two connections, to ports
 * printed on stderr, come in through a Unix socket, which namespaces do not separate.
 *
 * Outside: confine.mjs ARGUMENTS. Inside, started by itself: the same with CONFINE_SOCKET set.
 */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const { CONFINE_SOCKET: socketPath, CONFINE_ELECTRON: electron, CONFINE_USER: user } = process.env
const words = process.argv.slice(2)

/** @param {import('node:child_process').ChildProcess} child */
function endWith(child) {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
    process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    const end = () => process.exit(code ?? (signal === null ? 1 : 128))
    // Its last words first; a process that it left behind may keep the pipe open.
    child.on('close', end)
    setTimeout(end, 300)
  })
}

/** @param {import('node:net').Socket} one @param {import('node:net').Socket} other */
function joinSockets(one, other) {
  for (const [from, to] of [
    [one, other],
    [other, one]
  ]) {
    from.pipe(to)
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }
}

if (socketPath === undefined) outside()
else inside(socketPath)

function outside() {
  const path = join(tmpdir(), `confine-${process.pid}.sock`)
  const inner = 'ip link set lo up && exec "$0" "$@"'
  const self = fileURLToPath(import.meta.url)
  const child = spawn('unshare', ['-n', 'sh', '-c', inner, process.execPath, self, ...words], {
    stdio: ['inherit', 'inherit', 'pipe'],
    env: { ...process.env, CONFINE_SOCKET: path }
  })
  endWith(child)
  process.on('exit', () => rmSync(path, { force: true }))
  let rest = ''
  let lines = Promise.resolve()
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', (chunk) => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts)
      lines = lines.then(
        async () => void process.stderr.write(`${await withOuterPort(line, path)}\n`)
      )
  })
}

/**
 * A line that names a port inside, naming one here instead that leads to it.
 * @param {string} line @param {string} path
 */
async function withOuterPort(line, path) {
  const port = /ws:\/\/127\.0\.0\.1:(\d+)\//.exec(line)?.[1]
  if (port === undefined) return line
  const server = createServer((outer) => {
    const inner = connect(path)
    inner.write(`${port}\n`)
    joinSockets(outer, inner)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  return line.replace(`127.0.0.1:${port}`, `127.0.0.1:${address.port}`)
}

/** @param {string} path */
function inside(path) {
  createServer((outer) => {
    outer.once('data', (first) => {
      const end = first.indexOf(10)
      const inner = connect(Number(first.subarray(0, end)), '127.0.0.1')
      inner.write(first.subarray(end + 1))
      joinSockets(outer, inner)
    })
  }).listen(path, () => {
    const {
      CONFINE_SOCKET: _path,
      CONFINE_ELECTRON: _electron,
      CONFINE_USER: _user,
      ...env
    } = process.env
    const who = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups']
    endWith(spawn('setpriv', [...who, electron ?? '', ...words], { stdio: 'inherit', env }))
  })
}
