/** What the whole window does: global actions and keys, devices and jobs kept up to date. */
import { useEventListener } from '@vueuse/core'
import { onBeforeUnmount, onMounted } from 'vue'
import { onMenuAction } from '../client/menu'
import { fetchOpened } from '../client/openedFile'
import { captureOf, namedFiles } from '../stores/pickProfiles'
import { useConnection } from '../stores/connection'
import { useDevices } from '../stores/devices'
import { useJobs } from '../stores/jobs'
import { useMessages } from '../stores/messages'
import { useRuns } from '../stores/runs'
import { useSettings } from '../stores/settings'
import { examples, type Example } from '@shared/contract/examples'
import { useExamples } from '../stores/examples'
import { handleKey, runAction, useActions, type Action } from '../ground/actions'
import {
  areArrays,
  arePythonFiles,
  droppedFiles,
  handOver,
  isCaptureFolder,
  viewFor,
  type FileAt
} from '../ground/droppedFiles'
import { failureOf } from '../ground/failure'
import type { Hotkey } from '../ground/hotkeys'
import { go, goBackTo, route, type Route, type ViewId } from '../ground/route'
import { views } from './views'

export function useFrame(open: { openPalette: () => void; openSheet: () => void }): void {
  const settings = useSettings()
  const devices = useDevices()
  const jobs = useJobs()
  const runs = useRuns()
  const connection = useConnection()

  useEventListener(document, 'dragover', (event) => event.preventDefault())
  useEventListener(document, 'drop', (event) => void openDropped(event))

  const goActions = views.map<Action>((view, index) => ({
    id: `go.${view.id}`,
    title: `Go to ${view.title}`,
    group: 'Views',
    words: view.purpose,
    keys: `Alt+${index + 1}` as Hotkey,
    run: () => goBackTo(view.id)
  }))
  useActions([
    ...goActions,
    ...examples.map<Action>((example) => ({
      id: `example.${example.id}`,
      title: `Try an example: ${example.title}`,
      group: 'Examples',
      words: example.about,
      run: () => void openExample(example)
    })),
    {
      id: 'app.palette',
      title: 'Search commands',
      group: 'Window',
      keys: '!Mod+K',
      run: open.openPalette
    },
    {
      id: 'app.shortcuts',
      title: 'Keyboard shortcuts',
      group: 'Window',
      keys: '?',
      run: open.openSheet
    },
    {
      id: 'app.theme',
      title: 'Switch between light and dark',
      group: 'Window',
      keys: 'Mod+Shift+L',
      run: settings.toggleTheme
    },
    {
      id: 'app.themeSystem',
      title: 'Follow the system: light or dark',
      group: 'Window',
      run: () => (settings.theme = 'system')
    },
    {
      id: 'app.density',
      title: 'Switch between compact and comfortable rows',
      group: 'Window',
      run: () => (settings.density = settings.density === 'compact' ? 'comfortable' : 'compact')
    },
    {
      id: 'devices.refresh',
      title: 'Detect devices again',
      group: 'Devices',
      run: () => void devices.load(true)
    },
    {
      id: 'job.cancel',
      title: 'Cancel the running job',
      group: 'Jobs',
      keys: 'Mod+.',
      enabled: () => jobs.current !== undefined,
      run: () => void cancelCurrent()
    }
  ])

  async function cancelCurrent(): Promise<void> {
    if (!jobs.current) return
    try {
      await jobs.cancel(jobs.current.id)
    } catch (error) {
      useMessages().say('The job could not be cancelled.', {
        failure: failureOf('jobs.cancel', error)
      })
    }
  }

  const stops: (() => void)[] = []
  const onKey = (event: KeyboardEvent) => void handleKey(event)
  onMounted(() => {
    addEventListener('keydown', onKey)
    stops.push(
      () => removeEventListener('keydown', onKey),
      connection.onConnected(() => {
        void devices.load()
        void runs.load()
      }),
      jobs.keepFresh(),
      connection.onOpened((file) => void openHandle(file.handle)),
      onMenuAction(runAction)
    )
  })
  onBeforeUnmount(() => stops.forEach((stop) => stop()))
}

/** What is dropped where no view takes it goes to the view that reads it. Left alone, the browser would leave the page. */
async function openExample(example: Example): Promise<void> {
  try {
    await useExamples().open(example)
  } catch (error) {
    useMessages().say('The example was not opened.', { failure: failureOf('examples.read', error) })
  }
}

async function openDropped(event: DragEvent): Promise<void> {
  if (event.defaultPrevented) return
  event.preventDefault()
  if (!event.dataTransfer) return
  const dropped = await droppedFiles(event.dataTransfer)
  const [file] = dropped.files
  if (!file && dropped.inFolders.length === 0) return
  if (arePythonFiles(dropped.files)) return addPythonFiles(dropped.files)
  const now = route.value.view
  const found = await viewFor(dropped, now)
  // A trace dropped on the timeline is looked at there, and operands dropped on Validate are validated.
  const view =
    found === 'profile'
      ? profileViewFor(now)
      : found === 'formats' && now === 'validate' && areArrays(dropped.files)
        ? 'validate'
        : found
  if (now !== view) go(view)
  if (found !== 'profile') {
    handOver(view, dropped)
    return
  }
  if (isCaptureFolder(dropped.inFolders)) await openCapture(dropped.inFolders)
  else if (file) await openProfiles(dropped.files)
}

/** Views of the open profile keep it; others go to its tree. */
const profileViewFor = (now: Route['view']): ViewId =>
  now === 'timeline' || now === 'capture' ? now : 'profile'

async function openCapture(files: readonly FileAt[]): Promise<void> {
  const { useProfile } = await import('../stores/profile')
  const profile = useProfile()
  try {
    await profile.readFiles('open', captureOf(files))
  } catch (error) {
    profile.failure = failureOf('profile.open', error)
  }
}

/** Kernels of a person's own, for the view that would run them. */
async function addPythonFiles(files: readonly File[]): Promise<void> {
  if (route.value.view !== 'sweep') go('validate')
  for (const file of files) {
    try {
      const added = await useDevices().addPythonFile(file)
      if (!added) continue
      const are = added.kernels.length === 1 ? 'is' : 'are'
      useMessages().say(`${added.kernels.join(', ')} of ${file.name} ${are} among the kernels now.`)
    } catch (error) {
      useMessages().say(`${file.name} was not added.`, {
        failure: failureOf('providers.add', error)
      })
    }
  }
}

/** One profile, the parts of one, or two that are compared: the older is the baseline. */
async function openProfiles(files: readonly File[]): Promise<void> {
  const { useProfile } = await import('../stores/profile')
  const profile = useProfile()
  await profile.readFiles('open', namedFiles(files))
  const { info, baseline, failure } = profile
  if (files.length > 1 && info && baseline && !failure)
    useMessages().say(`${info.name} is compared with ${baseline.name}, the older one.`)
}

/** A file that the system or the command line asked to open; the node and the range that the address names are shown in it. */
async function openHandle(handle: string): Promise<void> {
  const { view: now, params } = route.value
  const view = profileViewFor(now)
  const wanted = now === view ? params.node : undefined
  const range = now === 'timeline' ? params.range : undefined
  // A run in the address would be read over the file.
  go(view, { ...(wanted && { node: wanted }), ...(range && { range }) })
  const { useProfile } = await import('../stores/profile')
  const profile = useProfile()
  try {
    const connection = useConnection()
    const { name, file, shards } = await fetchOpened(
      (input) => connection.call('files.read', input),
      handle
    )
    if (shards) await profile.readHandles(shards, name)
    else await profile.read('open', file, name)
    if (wanted && view === 'profile' && !profile.failure && !(await profile.revealPath(wanted)))
      useMessages().say(`${name} has no node "${wanted}".`)
  } catch (error) {
    profile.failure = failureOf('files.read', error)
  }
}
