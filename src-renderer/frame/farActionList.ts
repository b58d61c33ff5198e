import type { ViewId } from '@shared/contract/views'

/** Ids are those that the views register (useActions); a browser test runs every one. */
export const farActions: readonly { view: ViewId; id: string; title: string; words?: string }[] = [
  { view: 'validate', id: 'validate.all', title: 'Validate all formats', words: 'check reference' },
  {
    view: 'validate',
    id: 'validate.options',
    title: 'Options of a validation',
    words: 'tolerance seed'
  },
  { view: 'sweep', id: 'sweep.new', title: 'New sweep', words: 'measure benchmark K start' },
  { view: 'profile', id: 'profile.open', title: 'Open a profile', words: 'hatchet trace file' },
  { view: 'timeline', id: 'timeline.open', title: 'Open a trace', words: 'lanes perfetto file' },
  { view: 'capture', id: 'capture.new', title: 'Capture a program', words: 'profile start record' },
  { view: 'capture', id: 'capture.open', title: 'Open a capture', words: 'kernels folder shards' },
  { view: 'runs', id: 'runs.search', title: 'Search runs', words: 'history find' },
  { view: 'runs', id: 'runs.import', title: 'Import a run' },
  { view: 'runs', id: 'runs.importFolder', title: 'Import a run folder' }
]
