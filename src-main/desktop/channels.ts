/** Names of the messages between main process and preload script: all there are. */
export const channels = {
  /** Page to main: asks for a port to the contract. */
  connect: 'blockscope:connect',
  /** Main to page: the port. */
  port: 'blockscope:port',
  /** Main to page: an action chosen in the menu, by id. */
  action: 'blockscope:action'
} as const
