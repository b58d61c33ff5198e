/** What a file is, from how it begins: names and extensions lie. */
import { FileHead } from './fileHead'
import type { ProfileReaderRow } from './reader'
import { knownForms, readers } from './readers'

/** The reader of a form, or what the file looks like in words; null: more of it is needed to tell. */
export type Sniffed = { reader: ProfileReaderRow } | { looksLike: string; advice?: string } | null

/**
 * @param bytes the file's first bytes, without a byte order mark
 * @param isWhole whether there are no more
 * @param fileName asked only where no reader takes the content
 */
export function sniffFormat(bytes: Uint8Array, isWhole: boolean, fileName = ''): Sniffed {
  const head = new FileHead(bytes, isWhole)
  const reader = readers.find((row) => row.recognise(head))
  if (reader) return { reader }
  const known = knownForms.find((form) => form.recognise(head))
  if (known) return { looksLike: known.name, advice: known.advice }
  if (!head.isEnough && !head.hasAllKeys) return null
  const named = knownForms.find((form) => form.fileName?.test(fileName))
  return named ? { looksLike: named.name, advice: named.advice } : { looksLike: unknownForm(head) }
}

function unknownForm(head: FileHead): string {
  if (head.bytes.length === 0) return 'an empty file'
  if (head.kind === 'blank') return 'white space'
  if (head.kind === 'other') return 'no JSON'
  if (head.kind === 'list') return `a list of JSON objects with ${head.firstKeys()}`
  return head.keys.length === 0 ? 'an empty JSON object' : `JSON with ${head.firstKeys()}`
}
