// The command line on a GPU: kernels of a folder that read their scales in each of blockscope's layouts, kernels that
// fail in every way beside ones that do not, and baselines in a sweep.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './addon.mjs'

const cli = join(root, 'out/node/blockscope.js')
const example = join(root, 'test/gpu/kernels/userLayout')
const faults = join(root, 'test/gpu/kernels')
const store = mkdtempSync(join(tmpdir(), 'blockscope-command-line-'))

function blockscope(args, env = {}) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [cli, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, ...env }
  })
  return { text: stdout, said: stderr, code: status }
}

/** A folder of kernels: the example's kernel once for each layout, with the index function that blockscope prints. */
function kernelFolder(layouts) {
  const folder = join(store, 'kernels')
  cpSync(example, folder, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  const source = readFileSync(join(folder, 'multiply.cu'), 'utf8')
  for (const layout of layouts) {
    const { text } = blockscope(['layout', 'code', '--layout', layout, '--language', 'cpp'])
    const device = text.replace(/^(constexpr|inline|static|long)/m, '__device__ $1')
    writeFileSync(join(folder, `${layout}.cuh`), device)
    const own = source.replace('scaleOffset.cuh', `${layout}.cuh`)
    writeFileSync(join(folder, `${layout}.cu`), own)
    manifest.kernels.push({
      ...manifest.kernels[0],
      id: `reads-${layout}`,
      file: `${layout}.cu`,
      scaleLayout: layout
    })
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
  return folder
}

function checkLayouts(checks) {
  const listed = JSON.parse(blockscope(['layout', 'list', '--json']).text)
  const layouts = listed.map(({ name }) => name)
  const folder = kernelFolder(layouts)
  const ids = ['user-layout', ...layouts.map((layout) => `reads-${layout}`)]
  const validate = (kernels) =>
    blockscope([
      ...['validate', '--device', 'cuda:0', '--formats', 'mxfp4,nvfp4', '--kernels', kernels],
      ...['-M', '200', '-N', '136', '-K', '736', '--out', 'f32', '--store', store],
      ...['--kernel-dir', folder, '--json']
    ])
  const { text, code } = validate(ids.join())
  const { steps } = JSON.parse(text)
  for (const id of ids) {
    const own = steps.filter(({ kernel }) => kernel === id)
    const passed = own.length === 2 && own.every(({ disposition }) => disposition === 'passed')
    checks.check(`${id} reads its scales`, passed, JSON.stringify(own).slice(0, 300))
  }
  checks.check('all layouts pass: exit code 0', code === 0, String(code))
  const other = validate('user-layout-mismatched')
  checks.check('scales in another layout fail: exit code 1', other.code === 1, other.said)
}

/** Kernels that break the device's context, between ones that pass: each is told by name, the others stay. */
function checkFaults(checks) {
  const expected = {
    simt: /^$/,
    overruns: /writes outside C/,
    mistyped: /mistyped\.cu\(2\)[^]*notDeclared/,
    short: /2 parameters in the source and is given 1 argument/,
    faults: /read or wrote outside its memory/,
    hangs: /did not end within 3 s/,
    example: /^$/
  }
  const { text, code } = blockscope(
    [
      ...['validate', '--device', 'cuda:0', '--formats', 'mxfp4', '--store', store, '--json'],
      ...['--kernels', Object.keys(expected).join(), '--kernel-dir', faults],
      ...['-M', '256', '-N', '256', '-K', '256']
    ],
    { BLOCKSCOPE_WATCHDOG_SECONDS: '3' }
  )
  const { steps } = JSON.parse(text)
  for (const [kernel, words] of Object.entries(expected)) {
    const step = steps.find((one) => one.kernel === kernel)
    const disposition = words.test('') ? 'passed' : 'error'
    checks.check(
      `command line: ${kernel}`,
      step?.disposition === disposition && words.test(step.reason),
      `${step?.disposition} ${step?.reason}`
    )
  }
  checks.check('a run with faults: exit code 1', code === 1, String(code))
  // A sweep goes on too, in a fresh process with a context of its own.
  const swept = blockscope([
    ...['sweep', '--device', 'cuda:0', '--formats', 'mxfp4', '--kernels', 'faults,simt'],
    ...['--kernel-dir', faults, '-M', '256', '-N', '256', '-K', '256,512', '--preset', 'quick'],
    ...['--store', store, '--json']
  ])
  const sweptSteps = JSON.parse(swept.text).steps
  const measured = sweptSteps.filter((one) => one.kernel === 'simt' && one.measurement)
  checks.check('a sweep measures on after a lost context', measured.length === 2, swept.said)
  const hidden = blockscope(['validate', '--device', 'cuda:0'], { CUDA_VISIBLE_DEVICES: '' })
  checks.check('hidden GPUs: exit code 3', hidden.code === 3, `${hidden.code} ${hidden.said}`)
}

function checkBaseline(checks) {
  const { text, code } = blockscope([
    ...['sweep', '--device', 'cuda:0', '--formats', 'mxfp4', '--kernels', 'simt,cublaslt-bf16'],
    ...['-M', '256', '-N', '256', '-K', '512', '--preset', 'quick', '--store', store, '--json']
  ])
  const said = JSON.parse(text).steps.map((s) => `${s.kernel} ${s.disposition}`)
  const expected = ['simt passed', 'cublaslt-bf16 baseline']
  checks.check(
    'a baseline is no fault',
    code === 0 && said.sort().join() === expected.sort().join(),
    `${code} ${said}`
  )
}

export async function checkCommandLine(checks) {
  if (!existsSync(cli)) {
    console.log(`The command line is not tested: ${cli} is not built (npm run build:node).`)
    return
  }
  await checks.attempt('command line: layouts', async () => checkLayouts(checks))
  await checks.attempt('command line: faults', async () => checkFaults(checks))
  await checks.attempt('command line: baseline', async () => checkBaseline(checks))
  rmSync(store, { recursive: true, force: true })
}
