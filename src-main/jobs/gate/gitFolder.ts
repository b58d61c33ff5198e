/** A folder as it stands in a commit, written out beside the working tree, which is left alone. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { UserError } from '@shared/errors'
import { makeFolder, writeFileAtomic } from '../../ground/files'

const run = promisify(execFile)
/** Sources of kernels are small; what is larger is no folder of them. */
const mostBytes = 64 << 20

export interface GitFolder {
  path: string
  /** 'main:kernels (1a2b3c4d)': with the id of its contents. */
  name: string
  remove(): Promise<void>
}

/** `words`: git's own REF:FOLDER. Throws a UserError when there is no git, no repository, or no such folder in that commit. */
export async function gitFolder(words: string): Promise<GitFolder> {
  const tree = await treeOf(words)
  const path = await mkdtemp(join(tmpdir(), 'blockscope-gate-'))
  const remove = () => rm(path, { recursive: true, force: true })
  try {
    const listed = await git(['ls-tree', '-r', '-z', '--full-tree', tree])
    for (const line of listed.toString('utf8').split('\0').filter(Boolean)) {
      const [, mode, type, id, name] = /^(\d+) (\w+) (\w+)\t([^]*)$/.exec(line) ?? []
      // Links and other repositories are no sources of a kernel.
      if (type !== 'blob' || mode === '120000') continue
      const file = join(path, name!)
      await makeFolder(dirname(file))
      await writeFileAtomic(file, await git(['cat-file', 'blob', id!]))
    }
    return { path, name: `${words} (${tree.slice(0, 8)})`, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function treeOf(words: string): Promise<string> {
  try {
    const wanted = ['rev-parse', '--verify', '--quiet', '--end-of-options', words]
    const id = (await git(wanted)).toString('utf8').trim()
    // Refuses a file.
    await git(['ls-tree', id])
    return id
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new UserError('usage', `${words} needs git, which is not on the path.`)
    throw new UserError(
      'usage',
      `${words} is no folder of a commit of this git repository; it is REF:FOLDER, the folder from the repository's root.`,
      { cause: error }
    )
  }
}

async function git(words: readonly string[]): Promise<Buffer> {
  const { stdout } = await run('git', words, { encoding: 'buffer', maxBuffer: mostBytes })
  return stdout
}
