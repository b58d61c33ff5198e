/** A `blockscope serve` elsewhere, as the desktop app uses it: by the address it printed, over an SSH tunnel. */
import { messageOf, UserError } from '@shared/errors'
import { portWire, type PortLike } from '@shared/rpc/portWire'
import type { Wire } from '@shared/rpc/wire'
import { asPort, type MainPortLike } from './messagePort'
import { openSocket } from './webSocket'

export interface ServerAddress {
  /** 'ws://127.0.0.1:7777/rpc' */
  url: string
  token: string
  /** '127.0.0.1:7777', for a person. */
  host: string
}

const loopback = /^(127\.0\.0\.1|localhost|\[::1\])$/
const example = 'http://127.0.0.1:7777/#t=...'

/**
 * Of an address as `blockscope serve` prints it. Throws a UserError for another text, and for a host beyond this machine:
 * nothing is encrypted on the way, the token neither.
 */
export function parseServerAddress(text: string): ServerAddress {
  const trimmed = text.trim()
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined
  const token = /^#t=([\w-]+)(?:&|$)/.exec(url?.hash ?? '')?.[1]
  if (!url || url.protocol !== 'http:' || token === undefined) {
    throw new UserError(
      'usage',
      `This is no address of a server. Copy the one that "blockscope serve" printed: ${example}`
    )
  }
  if (!loopback.test(url.hostname)) {
    throw new UserError(
      'usage',
      `${url.host} is another machine, and nothing would be encrypted on the way. Open a tunnel with ` +
        `"ssh -N -L 7777:127.0.0.1:7777 ${url.hostname}", and copy the address with 127.0.0.1 in it.`
    )
  }
  return { url: `ws://${url.host}/rpc`, token, host: url.host }
}

/** Passes frames between a page's port and the server, both ways; when one side closes, so does the other. */
export async function relayPort(port: PortLike | MainPortLike, to: ServerAddress): Promise<void> {
  const page = portWire('addEventListener' in port ? port : asPort(port))
  try {
    await openSocket(to.url, to.token, (server) => join(page, server))
  } catch (error) {
    // The page takes a closed port for a lost connection, says so, and asks again.
    page.close('The server cannot be reached.')
    throw error
  }
}

function join(one: Wire, other: Wire): void {
  for (const [from, to] of [
    [one, other],
    [other, one]
  ] as const) {
    from.onClose((reason) => to.close(reason))
    from.onFrame((frame) => {
      try {
        to.send(frame)
      } catch (error) {
        // A port carries more than a socket. The caller sits at the end of a wire, which is all that can be cut here.
        from.close(messageOf(error))
        to.close(messageOf(error))
      }
    })
  }
}
