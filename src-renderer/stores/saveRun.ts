import type { ExportForm } from '@shared/contract/methods'
import { saveFile } from '../client/shell'
import { useMessages } from './messages'
import { useRuns } from './runs'
import { failureOf } from '../ground/failure'

export async function saveRun(id: string, as: ExportForm): Promise<void> {
  const messages = useMessages()
  try {
    const { name, bytes } = await useRuns().exportRun(id, as)
    saveFile(name, bytes as Uint8Array<ArrayBuffer>)
  } catch (error) {
    messages.say('The run could not be exported.', { failure: failureOf('runs.export', error) })
  }
}

export const exportForms: readonly { as: ExportForm; title: string; hint: string }[] = [
  { as: 'json', title: 'Run', hint: 'JSON' },
  { as: 'csv', title: 'Table', hint: 'CSV' },
  { as: 'markdown', title: 'Table', hint: 'Markdown' },
  { as: 'html', title: 'Report', hint: 'HTML' },
  { as: 'hatchet', title: 'Profile tree', hint: '.hatchet' },
  { as: 'trace', title: 'Timeline', hint: 'Perfetto' },
  { as: 'nvbench', title: 'For nvbench tools', hint: 'JSON' },
  { as: 'junit', title: 'For CI systems', hint: 'JUnit' },
  { as: 'folder', title: 'Everything', hint: 'run folder' }
]
