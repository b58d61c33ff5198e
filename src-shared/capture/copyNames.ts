/** CUPTI's CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind, in the words of PyTorch's traces. */
const copyKinds = [
  '',
  'HtoD',
  'DtoH',
  'HtoA',
  'AtoH',
  'AtoA',
  'AtoD',
  'DtoA',
  'DtoD',
  'HtoH',
  'PtoP'
]
const memoryKinds = [
  '',
  'Pageable',
  'Pinned',
  'Device',
  'Array',
  'Managed',
  'Device Static',
  'Managed Static'
]

/** 'Memcpy HtoD (Pinned -> Device)' */
export function copyName(kind: number, from: number, to: number): string {
  const [source, target] = [memoryKinds[from], memoryKinds[to]]
  const way = source && target ? ` (${source} -> ${target})` : ''
  return `Memcpy ${copyKinds[kind] || 'of unknown kind'}${way}`
}

/** 'Memset (Device)' */
export function setName(kind: number): string {
  const where = memoryKinds[kind]
  return `Memset${where ? ` (${where})` : ''}`
}
