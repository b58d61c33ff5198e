/** Where compilers and disassemblers are: a variable, the PATH, a toolkit, a Python's packages; and running them. */
import { execFile, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pythonCommand } from '../../ground/python'

export interface Tool {
  /** Undefined when there is none. */
  path: string | undefined
  /** Everywhere that was looked at, for the sentence that says so. */
  lookedAt: string[]
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function toolkits(env: NodeJS.ProcessEnv): string[] {
  const named = [env.CUDA_HOME, env.CUDA_PATH].filter((path) => path !== undefined)
  const installed = existsSync('/usr/local')
    ? readdirSync('/usr/local')
        .filter((name) => name.startsWith('cuda'))
        .sort()
        .reverse()
        .map((name) => join('/usr/local', name))
    : []
  return [...named, ...installed].map((toolkit) => join(toolkit, 'bin'))
}

/** Triton's package carries nvdisasm, NVIDIA's carry nvcc. */
const pythonFolders = `
import importlib.util as u, os, glob
for name, inside in (('triton', 'backends/nvidia/bin'), ('nvidia', '*/bin')):
    spec = u.find_spec(name)
    for place in (spec.submodule_search_locations if spec else []):
        for folder in glob.glob(os.path.join(place, inside)): print(folder)
`

function pythonPackages(env: NodeJS.ProcessEnv): string[] {
  const python = pythonCommand(env)
  const { stdout, status } = spawnSync(python, ['-c', pythonFolders], { encoding: 'utf8', env })
  return status === 0 ? stdout.split('\n').filter(Boolean) : []
}

/** 'nvcc was not found (looked at: ...)' */
export const notFound = (name: string, { lookedAt }: Tool): string =>
  `${name} was not found (looked at: ${lookedAt.join(', ')})`

/** Where programs of a kind are, beside the PATH. */
export interface Places {
  folders: (env: NodeJS.ProcessEnv) => string[]
  /** Looked into last: asking a Python takes a while. */
  packages?: (env: NodeJS.ProcessEnv) => string[]
  inWords: string[]
}

const nvidia: Places = {
  folders: toolkits,
  packages: pythonPackages,
  inWords: ["a Python's triton and nvidia packages"]
}

/** The first of `names` that is anywhere. `variable` names the program itself and goes before everything else. */
export function findTool(
  names: string | readonly string[],
  variable: string,
  env: NodeJS.ProcessEnv = process.env,
  places: Places = nvidia
): Tool {
  const given = env[variable]
  if (given)
    return { path: isProgram(given) ? given : undefined, lookedAt: [`${variable}=${given}`] }
  const near = [...(env.PATH ?? '').split(delimiter).filter(Boolean), ...places.folders(env)]
  const within = (folders: readonly string[]) =>
    [names]
      .flat()
      .flatMap((name) => folders.map((folder) => join(folder, name)))
      .find(isProgram)
  const lookedAt = ['PATH', ...places.folders(env), ...places.inWords]
  return { path: within(near) ?? within(places.packages?.(env) ?? []), lookedAt }
}

export interface ToolOutput {
  failed: boolean
  text: string
}

export function runTool(program: string, args: readonly string[]): Promise<ToolOutput> {
  return new Promise((done) => {
    execFile(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
      done({ failed: error !== null, text: stdout + stderr })
    )
  })
}
