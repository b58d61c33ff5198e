/** Files in and out of the page. The desktop app's window shows its own dialogs for both, so one way does for each host. */

/** Asks for files; empty when the dialog was closed. `accept` as in an input element: '.hatchet,.json'. */
export function pickFiles(accept = '', { multiple = true } = {}): Promise<File[]> {
  const input = document.createElement('input')
  input.type = 'file'
  input.accept = accept
  input.multiple = multiple
  return new Promise((resolve) => {
    input.addEventListener('change', () => resolve([...(input.files ?? [])]), { once: true })
    input.addEventListener('cancel', () => resolve([]), { once: true })
    input.click()
  })
}

/** Asks for a folder: every file in it and below, with its path in webkitRelativePath; empty when closed. */
export function pickFolder(): Promise<File[]> {
  const input = document.createElement('input')
  input.type = 'file'
  input.webkitdirectory = true
  return new Promise((resolve) => {
    input.addEventListener('change', () => resolve([...(input.files ?? [])]), { once: true })
    input.addEventListener('cancel', () => resolve([]), { once: true })
    input.click()
  })
}

/** Offers bytes as a file to keep: a download in a browser, a save dialog in the desktop app. */
export function saveFile(
  name: string,
  content: Uint8Array<ArrayBuffer> | string,
  type = 'application/octet-stream'
): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has its own hold on the bytes once it has begun.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
