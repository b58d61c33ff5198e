/** The commands that README and docs print, as they stand there. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface PrintedCommand {
  /** Page and line: 'docs/layouts.md:43'. */
  place: string
  page: string
  /** Without the remark behind it; lines continued with a backslash are joined. */
  text: string
  /** What stands behind '#'. */
  remark: string
  /** Within a sentence instead of a fenced block. */
  isInText: boolean
}

const programs =
  /^(?:[A-Z_]+=\S+ )*(?:\.\/|test\/|scripts\/)?(?:blockscope|npm|npx|node|bash|sh|python3?|ssh|git|cd|[\w/]+\.sh)(?=\s|$)/

/** Every page of the repository but recorded results, which quote the command of their run. */
export function pagesWithCommands(): string[] {
  return execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && !/^(docs\/results|test\/fixtures)\//.test(path))
}

/** Lines of fenced blocks and code within text that begin with the name of a program and an argument. */
export function printedCommands(page: string): PrintedCommand[] {
  const lines = readFileSync(page, 'utf8').split('\n')
  const found: PrintedCommand[] = []
  let isFenced = false
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!
    const place = `${page}:${index + 1}`
    if (line.startsWith('```')) isFenced = !isFenced
    else if (isFenced) {
      if (!programs.test(line)) continue
      let text = line
      while (text.endsWith('\\')) text = text.slice(0, -1).trimEnd() + ' ' + lines[++index]!.trim()
      const [, command, remark] = /^(.*?)(?:\s+# (.*))?$/.exec(text)!
      found.push({ place, page, text: command!.trimEnd(), remark: remark ?? '', isInText: false })
    } else {
      for (const [, text] of line.matchAll(/`([^`]+)`/g))
        if (programs.test(text!) && text!.includes(' '))
          found.push({ place, page, text: text!, remark: '', isInText: true })
    }
  }
  return found
}
