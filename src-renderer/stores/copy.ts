import { useMessages } from './messages'

/** Puts text on the clipboard and says so; where the browser forbids it, says that. */
export async function copyText(text: string, what: string): Promise<void> {
  const messages = useMessages()
  try {
    await navigator.clipboard.writeText(text)
    messages.say(`${what} copied.`)
  } catch {
    messages.say(`${what} could not be copied: the browser does not allow it on this page.`)
  }
}
