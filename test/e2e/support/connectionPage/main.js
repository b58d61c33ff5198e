/** A page with the client and nothing else, for connection.test.ts to drive. */
import { connect } from '../../../../src-renderer/client/connect'
import { saveFile } from '../../../../src-renderer/client/shell'

Object.assign(globalThis, { connect, saveFile })
