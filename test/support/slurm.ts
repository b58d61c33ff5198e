/** A Slurm of one node, for a test alone: its own folder, key and ports on loopback. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { patience, testLimit } from './patience'

/** Why there can be none here; undefined: there can. */
export function whyNoSlurm(): string | undefined {
  if (process.getuid?.() !== 0) return 'slurmd starts jobs as root only'
  for (const program of ['slurmctld', 'slurmd', 'munged', 'sbatch', 'squeue']) {
    try {
      execFileSync('sh', ['-c', `command -v ${program}`])
    } catch {
      return `${program} is not installed (apt-get install slurm-wlm munge)`
    }
  }
  return undefined
}

export interface Slurm {
  /** For commands that are to speak to it. */
  env: Record<string, string>
  /** What it does and how its daemons fare, for who waits in vain. */
  standing(): string
  stop(): Promise<void>
}

/** Started once a node of it is idle. */
export async function startSlurm(): Promise<Slurm> {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-slurm-'))
  chmodSync(folder, 0o755)
  const at = (name: string) => join(folder, name)
  for (const name of ['munge', 'spool', 'state']) mkdirSync(at(name), { mode: 0o755 })
  writeFileSync(at('munge/key'), randomBytes(1024), { mode: 0o400 })
  const [controllerPort, daemonPort] = await Promise.all([freePort(), freePort()])
  // Its usual limits of 10 to 300 s take a machine that stood still for a dead node, which gets no more tasks.
  writeFileSync(
    at('slurm.conf'),
    `ClusterName=blockscope
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=${at('munge/socket')}
CredType=cred/munge
SlurmctldPort=${controllerPort}
SlurmdPort=${daemonPort}
StateSaveLocation=${at('state')}
SlurmdSpoolDir=${at('spool')}
SlurmctldPidFile=${at('slurmctld.pid')}
SlurmdPidFile=${at('slurmd.pid')}
SlurmctldLogFile=${at('slurmctld.log')}
SlurmdLogFile=${at('slurmd.log')}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=0
MessageTimeout=${patience / 1000}
BatchStartTimeout=${patience / 1000}
UnkillableStepTimeout=${testLimit / 1000}
NodeName=localhost NodeAddr=127.0.0.1 CPUs=${Math.max(2, availableParallelism())} State=UNKNOWN
PartitionName=cpu Nodes=localhost Default=YES MaxTime=INFINITE State=UP
`
  )
  const env = { SLURM_CONF: at('slurm.conf') }
  const daemons: ChildProcess[] = []
  const start = (program: string, words: string[]) =>
    void daemons.push(spawn(program, words, { stdio: 'ignore', env: { ...process.env, ...env } }))
  const hasEnded = ({ exitCode, signalCode }: ChildProcess) =>
    exitCode !== null || signalCode !== null
  start('munged', [
    ...['--foreground', '--force', `--key-file=${at('munge/key')}`],
    ...[`--socket=${at('munge/socket')}`, `--pid-file=${at('munge/pid')}`],
    ...[`--seed-file=${at('munge/seed')}`, `--log-file=${at('munge/log')}`]
  ])
  start('slurmctld', ['-D', '-f', at('slurm.conf')])
  start('slurmd', ['-D', '-f', at('slurm.conf'), '-N', 'localhost'])
  const end = (daemon: ChildProcess) =>
    new Promise((settle) => {
      if (hasEnded(daemon)) return settle(undefined)
      // One that waits for its own threads may wait for ever.
      const hurry = setTimeout(() => daemon.kill('SIGKILL'), patience / 6)
      daemon.once('exit', (code) => {
        clearTimeout(hurry)
        settle(code)
      })
      daemon.kill('SIGTERM')
    })
  const stop = async () => {
    await Promise.all(daemons.toReversed().map(end))
    rmSync(folder, { recursive: true, force: true })
  }
  const said = (program: string, ...words: string[]) => {
    const { stdout, stderr, error } = spawnSync(program, words, {
      env: { ...process.env, ...env },
      encoding: 'utf8',
      timeout: patience / 6
    })
    return error ? `${program}: ${error.message}` : stdout + stderr
  }
  const lastOf = (name: string) => said('tail', '-n', '15', at(name))
  const standing = () =>
    [
      ...daemons
        .filter(hasEnded)
        .map(
          ({ spawnfile, exitCode, signalCode }) => `${spawnfile} ended: ${exitCode ?? signalCode}`
        ),
      said('squeue'),
      said('sinfo', '-R', '-o', '%T %E'),
      lastOf('slurmctld.log'),
      lastOf('slurmd.log')
    ].join('\n')
  try {
    await vi.waitFor(
      () => {
        const states = said('sinfo', '-h', '-o', '%T')
        if (!states.includes('idle')) throw new Error(`the node is ${states.trim()}`)
      },
      { interval: 200 }
    )
  } catch (error) {
    const found = standing()
    await stop()
    throw new Error(`Slurm did not start: ${String(error)}\n${found}`)
  }
  return { env, standing, stop }
}

function freePort(): Promise<number> {
  return new Promise((settle) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => settle(port))
    })
  })
}
