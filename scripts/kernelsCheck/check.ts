/** Compiles one build and reads what the compiler said and what it made. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Build } from './builds'
import { findInMainLoops, parseSass } from './sass'

interface Output {
  failed: boolean
  text: string
}

function runTool(program: string, args: readonly string[]): Promise<Output> {
  return new Promise((resolve) => {
    execFile(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, text: stdout + stderr })
    )
  })
}

/** ptxas: what it could not do as asked. C7508 ignores setmaxnreg; serialised wgmma is C7510, C7512, C7514 and kin. */
const ptxasComplaints = /C7508|wgmma\S* instructions are serialized/

/** Bytes a thread of each function stores to or loads from spilled registers, whichever is more, from ptxas -v. */
export function spilledBytesIn(log: string): Map<string, number> {
  const found = log.matchAll(
    /Function properties for (\S+)\s+\d+ bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads/g
  )
  return new Map(
    [...found].map(([, name, stores, loads]) => [name!, Math.max(Number(stores), Number(loads))])
  )
}

/** Sentences about what is wrong with the build; none when it is as it should be. */
export async function checkBuild(
  build: Build,
  folder: string,
  nvcc: string,
  nvdisasm: string | undefined
): Promise<string[]> {
  const place = mkdtempSync(join(tmpdir(), 'blockscope-kernels-'))
  try {
    const cubin = join(place, 'kernel.cubin')
    const architecture = build.target.replace('sm_', 'compute_')
    const compiled = await runTool(nvcc, [
      ...['-std=c++17', '-cubin', `-gencode=arch=${architecture},code=${build.target}`],
      ...[`-I${folder}`, '-Xptxas=-v,-warn-spills', ...build.options],
      ...['-o', cubin, join(folder, build.source)]
    ])
    if (compiled.failed) return [`does not compile:\n${compiled.text}`]
    const wrong = compiled.text.split('\n').filter((line) => ptxasComplaints.test(line))
    for (const [name, bytes] of spilledBytesIn(compiled.text)) {
      if (bytes) wrong.push(`${name} spills ${bytes} bytes of registers`)
    }
    if (!nvdisasm) return wrong
    const disassembled = await runTool(nvdisasm, ['-c', cubin])
    if (disassembled.failed) return [...wrong, `cannot be disassembled:\n${disassembled.text}`]
    const findings = parseSass(disassembled.text).flatMap(findInMainLoops)
    return [
      ...wrong,
      ...findings.map(
        ({ function: name, offset, opcode, why }) =>
          `${name} at ${offset.toString(16)}: ${opcode}, ${why}, inside a main loop`
      )
    ]
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}
