/**
 * Whether values of a metric may be added up over a subtree. CPU time may not: scopes measure it around one another. Nor
 * may shares, rates ('(%)', '(byte/second)'), what a launch was ('(per launch)'), and averages and extremes, by the names that NVIDIA
 * Nsight Compute gives them ('sm__cycles_active.avg', 'launch__registers_per_thread'). '(inc)' says that the file holds
 * sums already.
 */
export function isSummed(metric: string): boolean {
  return !(
    /^(avg_)?cpu_time/i.test(metric) ||
    metric.includes('(inc)') ||
    /\((%|per launch|[^()]*\/[^()]*)\)$/.test(metric) ||
    /\.(avg|min|max|pct|ratio)\b|^(launch|device)__/.test(metric)
  )
}
