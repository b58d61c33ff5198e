import type { LaunchRecord } from './launchRecord'
import { PathTree } from './pathTree'
import { countMetric, timeMetric, type ProfileDevice, type ProfileTree } from './profileTree'

/**
 * The hatchet tree of recorded launches: scopes, then one node per kernel with `time (ns)`, `count`, `flops`, the
 * width-specific `flopsW` and `bytes`, summed over its launches; each launch's time is kept as a sample.
 */
export function fromLaunchRecords(
  records: readonly LaunchRecord[],
  devices: readonly ProfileDevice[]
): ProfileTree {
  const tree = new PathTree()
  for (const record of records) {
    const scope = tree.at(record.scopePath)
    const node = tree.child(scope, record.kernel.label ?? record.kernel.raw)
    const ns = record.endNs - record.startNs
    tree.addNumber(node, timeMetric, ns, false)
    tree.addNumber(node, countMetric, 1, false)
    tree.addSample(node, ns)
    tree.setText(node, 'device_id', record.device.id)
    tree.setText(node, 'device_type', record.device.type)
    for (const [width, flops] of Object.entries(record.flopsByWidth)) {
      tree.addNumber(node, 'flops', flops, true)
      tree.addNumber(node, `flops${width}`, flops, true)
    }
    if (record.bytes > 0) tree.addNumber(node, 'bytes', record.bytes, false)
  }
  return tree.finish('built', devices, true)
}
