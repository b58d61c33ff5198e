/** Choices made in the desktop app's menu, by the id of the action they stand for. Returns what stops listening. */
export function onMenuAction(listener: (action: string) => void): () => void {
  const receive = (event: MessageEvent<unknown>) => {
    if (event.source !== window || typeof event.data !== 'object' || event.data === null) return
    const { type, action } = event.data as { type?: unknown; action?: unknown }
    if (type === 'blockscope:action' && typeof action === 'string') listener(action)
  }
  window.addEventListener('message', receive)
  return () => window.removeEventListener('message', receive)
}
