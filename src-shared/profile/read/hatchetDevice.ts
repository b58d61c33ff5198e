/** What a device element of Proton says, in JSON and in MessagePack alike. */
import type { ProfileDevice } from '../tree/profileTree'

/** Takes over a number by the name that Proton has for it; others are left. */
export function setDeviceNumber(device: ProfileDevice, key: string, value: number): void {
  if (key === 'bus_width') device.busWidthBits = value
  else if (key === 'clock_rate') device.clockRateKHz = value
  else if (key === 'memory_clock_rate') device.memoryClockRateKHz = value
  else if (key === 'num_sms') device.multiprocessors = value
}
