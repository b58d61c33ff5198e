/** The module a name belongs to: the file of a Python frame, the namespace of a C++ name, the class of an nn.Module, the first part of a dotted one. */
import { demangle } from './demangle'

/** '' where the name has none. */
export function moduleOf(name: string): string {
  const source = /^(.*?\.py)(?:\(\d+\)|:\d+)/.exec(name)?.[1]
  if (source) return source.slice(source.lastIndexOf('/') + 1)
  const layer = /^nn\.Module: (\w+?)(?:_\d+)?$/.exec(name)?.[1]
  if (layer) return layer
  const plain = demangle(name).replace(/^void /, '')
  const namespaces = /^((?:\w+::)+)/.exec(plain)?.[1]
  if (namespaces) return namespaces.split('::').filter(Boolean).slice(0, 2).join('::')
  // 'layers.21' and 'mlp.experts' are the parts of a model; a number alone tells nothing.
  return /^([A-Za-z_]\w*)\.[\w.]+$/.exec(plain)?.[1] ?? ''
}
