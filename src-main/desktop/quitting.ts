/** How the app ends: what runs is asked about, then cancelled and put on disk, and only then do windows and app go. */
import { dialog } from 'electron'
import type { App, BrowserWindow, Event, MessageBoxOptions } from 'electron'
import type { Application } from '../jobs/handlers'

export interface QuittingOptions {
  app: App
  application: Pick<Application, 'close'> & { jobs: Pick<Application['jobs'], 'list'> }
  window(): BrowserWindow | undefined
}

const quitButton = 0

/** Returns what the main window's 'close' is to be answered with, where closing it ends the app. */
export function guardQuitting({ app, application, window }: QuittingOptions): {
  onWindowClose(event: Event): void
} {
  let stage: 'open' | 'asking' | 'closing' | 'closed' = 'open'

  const isAgreed = async (): Promise<boolean> => {
    const running = application.jobs.list()
    if (running.length === 0) return true
    const question: MessageBoxOptions = {
      type: 'question',
      title: 'blockscope',
      message: running.length === 1 ? 'A job is running.' : `${running.length} jobs are running.`,
      detail:
        'Quitting cancels what runs. Results so far are kept; the run can be resumed from the Runs view.',
      buttons: ['Quit', 'Keep running'],
      defaultId: 1,
      cancelId: 1,
      noLink: true
    }
    const parent = window()
    const { response } = await (parent
      ? dialog.showMessageBox(parent, question)
      : dialog.showMessageBox(question))
    return response === quitButton
  }

  const end = async (): Promise<void> => {
    if (stage !== 'open') return
    stage = 'asking'
    if (!(await isAgreed())) {
      stage = 'open'
      return
    }
    stage = 'closing'
    try {
      await application.close()
    } finally {
      stage = 'closed'
      app.quit()
    }
  }

  // Not 'will-quit': the windows would be gone by then, and with them who could be asked.
  app.on('before-quit', (event) => {
    if (stage === 'closed') return
    event.preventDefault()
    void end()
  })
  return {
    onWindowClose(event) {
      if (stage === 'closed' || application.jobs.list().length === 0) return
      event.preventDefault()
      void end()
    }
  }
}
