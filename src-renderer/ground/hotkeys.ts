/** Hotkeys as a type, so that a misspelt one does not compile. `Mod` is Cmd on a Mac and Ctrl elsewhere. */
type Letter =
  | 'A'
  | 'B'
  | 'C'
  | 'D'
  | 'E'
  | 'F'
  | 'G'
  | 'H'
  | 'I'
  | 'J'
  | 'K'
  | 'L'
  | 'M'
  | 'N'
  | 'O'
  | 'P'
  | 'Q'
  | 'R'
  | 'S'
  | 'T'
  | 'U'
  | 'V'
  | 'W'
  | 'X'
  | 'Y'
  | 'Z'
type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'
type Named = 'Enter' | 'Escape' | 'Delete' | '?' | '/' | '.' | ',' | '[' | ']'
type Modifiers = '' | 'Mod+' | 'Shift+' | 'Alt+' | 'Mod+Shift+' | 'Mod+Alt+'
/** A leading '!' also fires while a text field has the focus. */
export type Hotkey = `${'' | '!'}${Modifiers}${Letter | Digit | Named}`

type KeyPress = Pick<
  KeyboardEvent,
  'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey' | 'target' | 'code'
>

export const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '')

interface Parsed {
  inFields: boolean
  mod: boolean
  shift: boolean
  alt: boolean
  key: string
}

function parse(hotkey: Hotkey): Parsed {
  const inFields = hotkey.startsWith('!')
  const parts = (inFields ? hotkey.slice(1) : hotkey).split('+')
  const key = parts.pop()!
  return {
    inFields,
    mod: parts.includes('Mod'),
    shift: parts.includes('Shift'),
    alt: parts.includes('Alt'),
    key
  }
}

export function matches(hotkey: Hotkey, press: KeyPress, mac = isMac): boolean {
  const wanted = parse(hotkey)
  if (!wanted.inFields && isTextField(press.target)) return false
  if (wanted.mod !== (mac ? press.metaKey : press.ctrlKey)) return false
  if ((mac ? press.ctrlKey : press.metaKey) || wanted.alt !== press.altKey) return false
  // Signs such as '?' need Shift on some keyboards and not on others.
  const isSign = /^[?/.,[\]]$/.test(wanted.key)
  if (!isSign && wanted.shift !== press.shiftKey) return false
  if (/^\d$/.test(wanted.key))
    return press.code === `Digit${wanted.key}` || press.key === wanted.key
  return press.key.toLowerCase() === wanted.key.toLowerCase()
}

export function isTextField(target: unknown): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target instanceof HTMLTextAreaElement) return true
  if (target instanceof HTMLSelectElement) return true
  const buttons = ['checkbox', 'radio', 'button', 'submit', 'range']
  return target instanceof HTMLInputElement && !buttons.includes(target.type)
}

/** The keys as a person reads them: ['Ctrl', 'K'] or ['⌘', 'K']. */
export function keyLabels(hotkey: Hotkey, mac = isMac): string[] {
  const { mod, shift, alt, key } = parse(hotkey)
  const labels = []
  if (mod) labels.push(mac ? '⌘' : 'Ctrl')
  if (alt) labels.push(mac ? '⌥' : 'Alt')
  if (shift) labels.push(mac ? '⇧' : 'Shift')
  return [...labels, key === 'Escape' ? 'Esc' : key]
}
