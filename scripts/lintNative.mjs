// The house of native/, as part of `npm run lint`: includes point one way (native/rooms.json) and in no circle; and there and in
// kernels lines end by column 100, as .clang-format has it. Those of CUDA have no generic lambdas. `node scripts/lintNative.mjs [folder [folder of kernels]]`
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, extname, join, relative, sep } from 'node:path'

const columns = 100
const sources = new Set(['.cpp', '.h', '.inc'])
const cudaSources = new Set(['.cu', '.cuh'])
const kernelSources = new Set([...cudaSources, '.hip', '.h'])

const [root = 'native', kernels = 'resources/kernels'] = process.argv.slice(2)
const { rooms } = JSON.parse(readFileSync(join(root, 'rooms.json'), 'utf8'))
const problems = []

function filesOf(folder, extensions) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'build' ? [] : filesOf(path, extensions)
    return extensions.has(extname(entry.name)) ? [path] : []
  })
}

/** Lines of a file; those that are too long are problems. */
function linesOf(path) {
  const lines = readFileSync(path, 'utf8').split('\n')
  lines.forEach((line, i) => {
    if ([...line].length > columns)
      problems.push(`${path}:${i + 1}: longer than ${columns} columns.`)
  })
  return lines
}

/** Made by the build or given by node-addon-api: in no room. */
const outside = new Set(['sourceHash.h', 'napi.h'])

const roomOf = (path) => relative(root, path).split(sep)[0]

/** Files that a file includes by name, and what is wrong with them. */
function includesOf(path) {
  const found = []
  linesOf(path).forEach((line, i) => {
    const place = `${path}:${i + 1}`
    const name = /^\s*#\s*include\s+"([^"]+)"/.exec(line)?.[1]
    if (!name || outside.has(name)) return
    const target = join(dirname(path), name)
    if (!existsSync(target)) return void problems.push(`${place}: there is no file ${target}.`)
    const [from, to] = [roomOf(path), roomOf(target)]
    if (from !== to && !rooms[from]?.includes(to)) {
      const allowed = rooms[from]?.join(', ') || 'no other room'
      problems.push(
        `${place}: ${from} includes ${to}; it may include ${allowed} (${root}/rooms.json).`
      )
    }
    if (to !== '..') found.push(target)
  })
  return found
}

const graph = new Map()
for (const name of readdirSync(root)) {
  const folder = join(root, name)
  if (name === 'build' || !statSync(folder).isDirectory()) continue
  if (!rooms[name]) problems.push(`${folder} is no room of ${root}/rooms.json.`)
  for (const path of filesOf(folder, sources)) graph.set(path, includesOf(path))
}

/** Walks what a file includes; a file met again on the way down closes a circle. */
const done = new Set()
function walk(path, way) {
  const met = way.indexOf(path)
  if (met >= 0) return void problems.push(`A circle: ${[...way.slice(met), path].join(' -> ')}.`)
  if (done.has(path)) return
  for (const next of graph.get(path) ?? []) walk(next, [...way, path])
  done.add(path)
}
for (const path of graph.keys()) walk(path, [])

/** `[...](auto x)`, which nvcc takes and NVRTC, by which a session compiles CUDA, holds for the host's. */
const genericLambda = /\]\s*\([^()]*\bauto\b/g
for (const path of filesOf(kernels, kernelSources)) {
  const text = linesOf(path).join('\n')
  if (!cudaSources.has(extname(path))) continue
  for (const { index } of text.matchAll(genericLambda))
    problems.push(
      `${path}:${text.slice(0, index).split('\n').length}: a lambda with a parameter of any type, which NVRTC refuses; write a function template.`
    )
}

for (const problem of problems) console.error(problem)
process.exitCode = problems.length ? 1 : 0
