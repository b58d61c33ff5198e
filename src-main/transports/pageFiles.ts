/** How the page's files are handed out, by the server and by the desktop app alike. */
import { realpathSync, statSync } from 'node:fs'
import { extname, join, sep } from 'node:path'

const mediaTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2'
}

/** Nothing from elsewhere, nothing inline, no eval: see docs/security.md. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

/** Go with every answer, errors too. */
export const securityHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin'
} as const

export interface PageFile {
  path: string
  mediaType: string
}

/**
 * The file of `folder` that a URL path names; '/' is index.html. Undefined for what is not a plain file of a known type
 * inside the folder: traversal, encoded separators, symbolic links that lead out, dot files.
 */
export function resolvePageFile(folder: string, urlPath: string): PageFile | undefined {
  let decoded: string
  try {
    decoded = decodeURIComponent(urlPath)
  } catch {
    return undefined
  }
  const names = (decoded === '/' ? '/index.html' : decoded).split('/').slice(1)
  if (names.length === 0 || !names.every((name) => /^[\w-][\w.-]*$/.test(name))) return undefined
  const mediaType = mediaTypes[extname(decoded === '/' ? 'index.html' : decoded)]
  if (mediaType === undefined) return undefined
  try {
    const path = realpathSync(join(folder, ...names))
    if (!path.startsWith(realpathSync(folder) + sep) || !statSync(path).isFile()) return undefined
    return { path, mediaType }
  } catch {
    return undefined
  }
}
