/** The open profile and files: opened from those a person chooses, saved to, or copied. */
import { saveFile } from '../client/shell'
import { failureOf } from '../ground/failure'
import type { TextForm } from '../workers/profileProtocol'
import { copyText } from './copy'
import { useMessages } from './messages'
import { pickProfiles } from './pickProfiles'
import { useProfile } from './profile'

/** Asks for files and opens them; a dialog that is closed changes nothing. */
export async function chooseProfile(what: 'open' | 'baseline' = 'open'): Promise<void> {
  const picked = await pickProfiles({ multiple: what === 'open' })
  if (picked.files.length > 0) await useProfile().readFiles(what, picked)
}

/** Saves something of the open profile under its name. `what`: in words, should it not succeed. */
export async function saveOfProfile(
  what: string,
  ending: string,
  make: () => Promise<Uint8Array<ArrayBuffer> | string>
): Promise<void> {
  try {
    const content = await make()
    saveFile(`${useProfile().info!.name.replace(/\.[^.]*$/, '')}${ending}`, content)
  } catch (error) {
    notWritten(what, error)
  }
}

export const saveProfile = (form: TextForm, ending: string): Promise<void> =>
  saveOfProfile('profile', ending, () => useProfile().text(form))

export async function copyProfile(form: TextForm): Promise<void> {
  try {
    await copyText(await useProfile().text(form), 'Profile')
  } catch (error) {
    notWritten('profile', error)
  }
}

const notWritten = (what: string, error: unknown) =>
  useMessages().say(`The ${what} could not be written.`, {
    failure: failureOf(`profile.${what}`, error)
  })
