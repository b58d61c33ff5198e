/** What no page in this app may do, whatever it holds: Electron's security checklist, items 5 and 11 to 15. */
import type { App, Session, WebContents } from 'electron'
import type { PageAddress } from './pageAddress'

/** Copying a table is the one thing a page asks leave for. */
const allowedPermissions: readonly string[] = ['clipboard-sanitized-write']

/** Schemes of requests that stay on this machine. */
const localSchemes: readonly string[] = ['blob:', 'data:', 'devtools:']

export function isLocalRequest(url: string, address: PageAddress): boolean {
  if (address.isOwn(url)) return true
  if (!URL.canParse(url)) return false
  const { protocol, host } = new URL(url)
  // While developing, Vite's server reloads the page over a WebSocket of its own.
  if (protocol === 'ws:') return address.isOwn(`http://${host}/`)
  return localSchemes.includes(protocol)
}

/** Permissions, requests to the network, and downloads that are not the page's own. */
export function guardSession(session: Session, address: PageAddress): void {
  const isAllowed = (permission: string, url: string) =>
    allowedPermissions.includes(permission) && address.isOwn(url)
  session.setPermissionRequestHandler((_contents, permission, callback, details) =>
    callback(isAllowed(permission, details.requestingUrl))
  )
  session.setPermissionCheckHandler((_contents, permission, requestingOrigin) =>
    isAllowed(permission, requestingOrigin)
  )
  session.webRequest.onBeforeRequest(({ url }, callback) =>
    callback({ cancel: !isLocalRequest(url, address) })
  )
  session.on('will-download', (event, item) => {
    const url = item.getURL()
    if (!url.startsWith('blob:') || !address.isOwn(url.slice('blob:'.length)))
      event.preventDefault()
  })
}

/** Navigation, new windows and webviews, for every page that will ever be made. */
export function guardContents(app: App, address: PageAddress): void {
  app.on('web-contents-created', (_event, contents: WebContents) => {
    contents.on('will-attach-webview', (event) => event.preventDefault())
    contents.on('will-navigate', (event) => {
      if (!address.isOwn(event.url)) event.preventDefault()
    })
    contents.on('will-redirect', (event) => {
      if (!address.isOwn(event.url)) event.preventDefault()
    })
    contents.on('will-frame-navigate', (event) => {
      if (!address.isOwn(event.url)) event.preventDefault()
    })
    contents.setWindowOpenHandler(() => ({ action: 'deny' }))
  })
}
