import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { captureIdSchema } from '@shared/contract/capture'
import { capturesName, defaultStoreFolder } from '../store/runStore'

/** Words that name no file here may be the id of a capture that the app started, as the page shows it. */
export function capturePlace(words: string): string {
  if (existsSync(words) || !v.is(captureIdSchema, words)) return words
  const kept = join(defaultStoreFolder(), capturesName, words)
  return existsSync(kept) ? kept : words
}
