// What the clockwork of a measurement needs on the device.

// Holds the stream back until the host sets *go, so that launching costs nothing inside the timed
// region (nvbench's blocking kernel). Gives up after timeoutNs and says so in *timedOut: a launch
// that waits for the device would otherwise wait for ever.
extern "C" __global__ void hold(volatile int* go, volatile int* timedOut, long long timeoutNs) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  while (*go == 0) {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if ((long long)(now - start) > timeoutNs) {
      *timedOut = 1;
      return;
    }
  }
}

struct Stamp {
  unsigned long long nanoseconds, cycles;
};

// Time and cycle count of multiprocessor 0: two of these give its clock between them. Launched with
// enough blocks that one lands there.
extern "C" __global__ void stamp(Stamp* result) {
  unsigned multiprocessor;
  asm volatile("mov.u32 %0, %smid;" : "=r"(multiprocessor));
  if (multiprocessor != 0 || threadIdx.x != 0) return;
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  result->nanoseconds = now;
  result->cycles = clock64();
}

// For the sanity check that an empty kernel takes under 5 us.
extern "C" __global__ void nothing() {}
