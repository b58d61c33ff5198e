import { type Preset } from '@shared/measurement/presets'

/**
 * How much of a sweep is done, by time: a validation and a measurement take unlike long, so what is left is estimated
 * from those that were seen. Never falls. Times in seconds.
 */
export class SweepProgress {
  private readonly validation = new Mean()
  private readonly measurement = new Mean()
  private shown = 0

  /**
   * @param validations how many there are to do
   * @param measurements how many there are if every step turns out valid: each point once a round
   * @param expectedMeasurement one measurement, until one was seen: see expectedSeconds
   */
  constructor(
    private readonly validations: number,
    private readonly measurements: number,
    private readonly expectedMeasurement: number
  ) {}

  validated(seconds: number): void {
    this.validation.add(seconds)
  }

  measured(seconds: number): void {
    this.measurement.add(seconds)
  }

  /** While a step is validated, of which `fraction` is done. */
  whileValidating(fraction: number): number {
    const each = this.validation.value(this.expectedMeasurement)
    const left =
      (this.validations - this.validation.count - fraction) * each +
      this.measurements * this.expectedMeasurement
    return this.show(this.validation.sum + fraction * each, left)
  }

  /** While a point is measured, of which `fraction` is done; `measurements` are to be done of those that are valid. */
  whileMeasuring(measurements: number, fraction: number): number {
    const each = this.measurement.value(this.expectedMeasurement)
    const left = (measurements - this.measurement.count - fraction) * each
    return this.show(this.validation.sum + this.measurement.sum + fraction * each, left)
  }

  private show(done: number, left: number): number {
    this.shown = Math.max(this.shown, Math.min(1, done / (done + Math.max(0, left)) || 0))
    return this.shown
  }
}

/** What one measurement takes at least: warm-up, samples, and making operands again. */
export function expectedSeconds(preset: Preset): number {
  const openingSeconds = 0.5
  return (preset.laterWarmupNs + preset.minTimeNs) / 1e9 + openingSeconds
}

class Mean {
  sum = 0
  count = 0

  add(value: number): void {
    this.sum += value
    this.count++
  }

  value(whileEmpty: number): number {
    return this.count > 0 ? this.sum / this.count : whileEmpty
  }
}
