/** Programs that are to be captured: whatever the page asks for, the person is told what would be started, here and not in the page. */
import type { BrowserWindow, Dialog, MessageBoxOptions } from 'electron'
import { quoted } from '@shared/profile/write/viewCommand'
import type { AllowProgram } from '../capture/captureManager'

export function askBeforeProgram(
  dialog: Pick<Dialog, 'showMessageBox'>,
  window: () => BrowserWindow | undefined
): AllowProgram {
  return async ({ command, workingFolder, environment }) => {
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const question: MessageBoxOptions = {
      type: 'warning',
      title: 'blockscope',
      message: `Start ${command[0]} and capture it?`,
      detail: [
        command.map(quoted).join(' '),
        ...(workingFolder === undefined ? [] : [`in ${workingFolder}`]),
        ...(variables.length === 0 ? [] : [`with ${variables.map(quoted).join(' ')}`]),
        'It is a program: it can do whatever you can on this computer.'
      ].join('\n'),
      buttons: ['Start it', 'Cancel'],
      defaultId: 1,
      cancelId: 1,
      noLink: true
    }
    const owner = window()
    const { response } = await (owner
      ? dialog.showMessageBox(owner, question)
      : dialog.showMessageBox(question))
    return response === 0
  }
}
