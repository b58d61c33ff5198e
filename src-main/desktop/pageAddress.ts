/** The page's address: its own scheme in the app, Vite's server while developing. */

export const pageScheme = 'app'
const pageHost = 'blockscope'

export interface PageAddress {
  url: string
  /** Whether a URL belongs to the page's own origin. */
  isOwn(url: string): boolean
}

/** `developmentUrl` is what electron-vite sets in ELECTRON_RENDERER_URL; never given in a packaged app. */
export function pageAddress(developmentUrl?: string): PageAddress {
  const url = developmentUrl ?? `${pageScheme}://${pageHost}/`
  const own = new URL(url)
  return {
    url,
    isOwn(other) {
      // The origin of a scheme of our own is 'null' to the URL class, so its parts are compared.
      const parsed = URL.canParse(other) ? new URL(other) : undefined
      return (
        parsed !== undefined &&
        parsed.protocol === own.protocol &&
        parsed.host === own.host &&
        parsed.username === '' &&
        parsed.password === ''
      )
    }
  }
}
