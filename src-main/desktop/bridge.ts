import { ipcMain, MessageChannelMain } from 'electron'
import type { IpcMainEvent } from 'electron'
import type { Handlers } from '@shared/contract/methods'
import { printFault } from '../ground/terminal'
import { servePort } from '../transports/messagePort'
import { relayPort, type ServerAddress } from '../transports/remoteServer'
import { channels } from './channels'
import type { PageAddress } from './pageAddress'

/** Whether a message comes from the page itself: top frame of a window of ours, still showing our address. */
export function isTrustedSender(
  event: Pick<IpcMainEvent, 'sender' | 'senderFrame'>,
  address: PageAddress,
  ownContents: ReadonlySet<number>
): boolean {
  const { senderFrame, sender } = event
  // Null when the frame was navigated away or destroyed meanwhile.
  if (!senderFrame || senderFrame.parent !== null) return false
  return ownContents.has(sender.id) && address.isOwn(senderFrame.url)
}

/**
 * Gives each page that asks a port: to the handlers, or to the server that `remote` names at that moment. This is the one
 * message that the main process listens to.
 */
export function bridgePages(
  handlers: Handlers,
  address: PageAddress,
  ownContents: ReadonlySet<number>,
  remote: () => ServerAddress | undefined = () => undefined
): void {
  ipcMain.on(channels.connect, (event) => {
    if (!isTrustedSender(event, address, ownContents)) return
    const { port1, port2 } = new MessageChannelMain()
    const server = remote()
    if (server) relayPort(port1, server).catch((error) => printFault(server.host, error))
    else
      servePort(port1, handlers, {
        onInternalError: printFault
      })
    event.senderFrame?.postMessage(channels.port, null, [port2])
  })
}
