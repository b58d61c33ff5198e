import { readFile } from 'node:fs/promises'
import { protocol } from 'electron'
import type { Session } from 'electron'
import { resolvePageFile, securityHeaders } from '../transports/pageFiles'
import { pageScheme } from './pageAddress'
import type { PageAddress } from './pageAddress'

/** Before the app is ready: the page's scheme is a standard, secure one, with no way around its security policy. */
export function registerPageScheme(): void {
  protocol.registerSchemesAsPrivileged([
    {
      scheme: pageScheme,
      privileges: { standard: true, secure: true, supportFetchAPI: true }
    }
  ])
}

/** Serves the built page, and nothing else, under the page's scheme. */
export function servePage(session: Session, folder: string, address: PageAddress): void {
  session.protocol.handle(pageScheme, (request) => answerPage(request, folder, address))
}

export async function answerPage(
  request: Pick<Request, 'method' | 'url'>,
  folder: string,
  address: PageAddress
): Promise<Response> {
  const refuse = (status: number, message: string) =>
    new Response(message, { status, headers: { ...securityHeaders, 'Content-Type': 'text/plain' } })
  if (request.method !== 'GET') return refuse(405, 'Only GET is answered.')
  if (!address.isOwn(request.url)) return refuse(404, 'There is no such host.')
  const file = resolvePageFile(folder, new URL(request.url).pathname)
  if (!file) return refuse(404, 'There is no such file.')
  const headers = { ...securityHeaders, 'Content-Type': file.mediaType }
  return new Response(new Uint8Array(await readFile(file.path)), { headers })
}
