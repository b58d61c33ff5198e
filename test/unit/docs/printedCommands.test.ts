/**
 * Every command that README and docs print runs as printed, in a folder with small files of the names they use: in bash
 * where the line is more than words, is interrupted or starts the program anew; by the program's own door elsewhere. Of
 * validations that name no size the main job alone runs at the size that it has then.
 * What cannot run here is left out by what the page itself says behind it ("# needs a GPU"), never by a list of commands.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scripts } from '../../../package.json'
import { makeDocsFolder, type DocsFolder } from '../../support/docsFolder'
import { runInProcess } from '../../support/runInProcess'
import {
  pagesWithCommands,
  printedCommands,
  type PrintedCommand
} from '../../support/printedCommands'

/** What a page says of a command that runs elsewhere only. */
const needs =
  /\bneeds (a GPU|Triton|an Electron binary|a network|another machine|a CUDA toolkit|OpenBLAS|numpy)\b/
const takesMinutes = /\btakes minutes on a CPU\b/
/** More than words: pipes, redirections, variables, patterns. */
const needsShell = /[|<>$&;*?~"`\\]/
/** Start the program anew by its path. */
const startsItself = /^blockscope fleet /
/** Validate products of 1024 cubed, which `blockscope validate` does here too. */
const validatesUnsized = /^blockscope validate (?!.*(--operands|-[MNK]) )/
/** Serve until they are interrupted. */
const serving = /^blockscope (serve|app|open)\b/

let folder: DocsFolder
beforeAll(async () => {
  folder = await makeDocsFolder()
})
afterAll(() => rmSync(folder.path, { recursive: true, force: true }))

interface Outcome {
  code: number | null
  output: string
}

/** Runs a line in bash; `until`: interrupts it, as Ctrl+C does, once its output matches. */
function runLine(line: string, until?: RegExp, cwd = folder.path): Promise<Outcome> {
  const child = spawn('bash', ['-c', line.replace(/\bID\b/, folder.runId)], {
    cwd,
    env: folder.environment,
    // A group of its own: Ctrl+C reaches the shell and what it started.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let output = ''
  let isInterrupted = false
  const collect = (chunk: Buffer) => {
    output += String(chunk)
    if (isInterrupted || !until?.test(output)) return
    isInterrupted = true
    process.kill(-child.pid!, 'SIGINT')
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })))
}

/** Runs a line of words as main does for a process, in this one. */
async function runWords(line: string): Promise<Outcome> {
  const words = line.replace(/\bID\b/, folder.runId).match(/'[^']*'|\S+/g)!
  const environment = Object.entries(folder.environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined
  )
  const before = process.cwd()
  process.chdir(folder.path)
  try {
    const { code, stdout, stderr } = await runInProcess(
      words.slice(1).map((word) => word.replace(/^'(.*)'$/, '$1')),
      Object.fromEntries(environment)
    )
    return { code, output: stdout + stderr }
  } finally {
    process.chdir(before)
  }
}

const runAsPrinted = (line: string, until?: RegExp): Promise<Outcome> =>
  until || startsItself.test(line) || needsShell.test(line.replace(/'[^']*'/g, ''))
    ? runLine(line, until)
    : runWords(line)

const outcomes = new Map<string, Promise<Outcome>>()

/** What several pages print runs once, where it names no file or run that another command may have changed meanwhile. */
function runOnce(line: string, until?: RegExp): Promise<Outcome> {
  if (/\.|\bID\b/.test(line)) return runAsPrinted(line, until)
  const outcome = outcomes.get(line) ?? runAsPrinted(line, until)
  outcomes.set(line, outcome)
  return outcome
}

const all = pagesWithCommands().flatMap(printedCommands)
const skipped = (command: PrintedCommand) => needs.test(command.remark)
const own = all.filter(({ text }) => text.startsWith('blockscope ') && !/[[\]]|\.\.\./.test(text))

describe.each([...new Set(own.map(({ page }) => page))])('%s', (page) => {
  for (const command of own.filter((one) => one.page === page)) {
    const { place, text } = command
    it.skipIf(skipped(command))(`${place} ${text}`, async () => {
      if (serving.test(text)) {
        const { code, output } = await runOnce(text, /http:\/\/127\.0\.0\.1:\d+\/#t=/)
        expect(output).toContain('Ctrl+C stops it.')
        expect(code).toBe(0)
      } else if (takesMinutes.test(command.remark)) {
        const { output } = await runLine(`${text} -M 64 -N 64`, / passed /)
        expect(output).toMatch(/ passed /)
        expect(output).toMatch(/[Ii]nterrupted|[Cc]ancelled/)
      } else {
        // What one page makes, another begins with; no command overwrites it.
        const made = /(?<!validate .*)--out (\S+)/.exec(text)?.[1]
        if (made !== undefined) rmSync(join(folder.path, made), { force: true })
        const sized = validatesUnsized.test(text) ? `${text} -M 96 -N 80 -K 128` : text
        const { code, output } = await runOnce(sized)
        if (made === undefined) expect(output).not.toBe('')
        else expect(statSync(join(folder.path, made)).size).toBeGreaterThan(0)
        expect(output).not.toMatch(/^blockscope: |^error: /m)
        expect({ code, output }).toEqual({ code: 0, output })
        if (text.includes(' layout detect ')) expect(output).toContain('nvidia_32_4_4')
        if (text.includes(' unpack ')) {
          const unpacked = readFileSync(join(folder.path, 'unpacked.bin'))
          expect(unpacked).toEqual(readFileSync(join(folder.path, 'linear.bin')))
        }
      }
    })
  }
})

describe('the pages', () => {
  it('print commands that are found here', () => {
    expect(own.length).toBeGreaterThan(40)
    const pages = new Set(own.map(({ page }) => page))
    for (const page of ['README.md', 'docs/layouts.md', 'docs/formats.md', 'docs/profiles.md'])
      expect(pages).toContain(page)
  })

  it('print npm scripts and files that are there', () => {
    const known = ['ci', 'test', 'start', 'install', 'pack', 'rebuild']
    for (const { place, text } of all) {
      for (const [, verb, script] of text.matchAll(/\bnpm (?:(?:run )(?:-\S+ )*(\S+)|(\w+))/g)) {
        const name = verb ?? script!
        expect([...Object.keys(scripts), ...known], `${place}: ${text}`).toContain(name)
      }
      for (const [file] of text.matchAll(/\b(?:test|scripts)\/\S+\.(?:sh|ts|mjs)\b/g))
        expect(existsSync(file), `${place}: ${file}`).toBe(true)
    }
  })

  it('print no command of another program but those known here', () => {
    const others = all.filter(({ text }) => !own.some((one) => one.text === text))
    const isKnown = ({ text }: PrintedCommand) =>
      /^(UPDATE_(SCREENSHOTS|DOCS)=1 )?np[mx] /.test(text) ||
      /^ssh .*7777:127\.0\.0\.1:7777/.test(text) ||
      /^node out\/node\/blockscope\.js$/.test(text) ||
      /^NODE=\S+ test\/gpu\//.test(text)
    expect(
      others.filter((one) => !isKnown(one)).map(({ place, text }) => place + ' ' + text)
    ).toEqual([])
  })
})

describe('a clone after npm ci', () => {
  const built = [
    'native/build/Release/blockscope.node',
    'out/node/blockscope.js',
    'out/node/engine.js'
  ]
  const state = () => built.map((path) => [path, statSync(path).mtimeMs, statSync(path).ino])

  it('validates with the main job, every step', async () => {
    expect(scripts.validate).toBe(
      'npm run --silent build:node && node out/node/blockscope.js validate'
    )
    const { code, output } = await runLine('blockscope validate')
    expect(output).toMatch(/Passed: (\d+) of \1 passed/)
    expect(code).toBe(0)
  })

  it('runs a command the way README says, building and changing nothing', async () => {
    const page = readFileSync('README.md', 'utf8')
    const way = /`blockscope` is `([^`]+)`, which builds nothing/.exec(page)?.[1]
    expect(way).toBeDefined()
    const before = state()
    const { code, output } = await runLine(`${way} formats e4m3`, undefined, process.cwd())
    expect(output).toContain('448')
    expect(code).toBe(0)
    expect(state()).toEqual(before)
    expect(readFileSync('out/node/blockscope.js', 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  })

  it('installs again without deleting or compiling what is there', async () => {
    const before = state()
    const { code, output } = await runLine('npm run --silent install', undefined, process.cwd())
    expect(output).not.toMatch(/CXX\(target\)|gyp info spawn args.*clean/)
    expect(code).toBe(0)
    expect(state()).toEqual(before)
  })
})
