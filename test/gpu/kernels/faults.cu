// Kernels that misbehave, for the tests of how that is told.

// Just beyond C, in memory that belongs to the program: nothing but a guard shows it.
extern "C" __global__ void overrun(unsigned char* c, long long elements) { c[elements * 2 + 100] = 1; }

extern "C" __global__ void fault(unsigned char* c) { c[1ll << 46] = 1; }

extern "C" __global__ void hang(volatile unsigned char* c) {
  while (c[0] != 1) {
  }
}
