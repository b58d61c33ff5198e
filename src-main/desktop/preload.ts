/**
 * All that the page gets from Electron: a way to ask for a MessagePort that speaks the contract. The port and menu actions
 * arrive as messages of the page's own window; ipcRenderer and its events stay here.
 */
import { contextBridge, ipcRenderer } from 'electron'
import { channels } from './channels'

contextBridge.exposeInMainWorld('blockscope', {
  connect: () => ipcRenderer.send(channels.connect)
})

ipcRenderer.on(channels.port, (event) =>
  window.postMessage(channels.port, location.origin, [...event.ports])
)
ipcRenderer.on(channels.action, (_event, action: unknown) =>
  window.postMessage({ type: channels.action, action }, location.origin)
)
