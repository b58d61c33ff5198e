/** Sums by name, as profilers print them where no single launch was kept: a flat tree. */
import { PathTree } from '../tree/pathTree'
import { countMetric, timeMetric, type ProfileFormat, type ProfileTree } from '../tree/profileTree'

export class StatisticsTable {
  count = 0
  private readonly tree = new PathTree()

  add(name: string, totalNs: number, calls: number): void {
    if (!Number.isFinite(totalNs) || !Number.isFinite(calls)) return
    const node = this.tree.at([name])
    this.tree.addNumber(node, timeMetric, totalNs, false)
    this.tree.addNumber(node, countMetric, calls, false)
    this.count++
  }

  finish(format: ProfileFormat): ProfileTree {
    return this.tree.finish(format, [], true)
  }
}
