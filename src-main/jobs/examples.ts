/** Files that come with the program, to look at. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { examples, type ExampleId } from '@shared/contract/examples'
import type { Output } from '@shared/contract/methods'
import { parseRun } from '@shared/contract/parseRun'
import { UserError } from '@shared/errors'

export async function readExample(
  folder: string | undefined,
  id: ExampleId
): Promise<Output<'examples.read'>> {
  const { file, view } = examples.find((one) => one.id === id)!
  if (folder === undefined)
    throw new UserError('unavailable', 'No examples came with this program.')
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = new Uint8Array(await readFile(join(folder, file)))
  } catch (error) {
    const words = `The example ${file} is missing from ${folder}; install blockscope again.`
    throw new UserError('failed', words, { cause: error })
  }
  const run =
    view === 'sweep' || view === 'validate'
      ? parseRun(new TextDecoder().decode(bytes), file).id
      : ''
  return { name: file, bytes, run }
}
