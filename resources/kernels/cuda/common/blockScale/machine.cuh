// What the block-scaled product needs of a GPU beside arithmetic (gemm.cuh): PTX, and for
// architectures without block-scaled matrix instructions their emulation, lane by lane.
#pragma once

#include "common/blockScale/emulation.cuh"
#include "common/pipeline.cuh"

namespace blockscale {

#define BS_TYPE_0 "e2m1"
#define BS_TYPE_1 "e2m3"
#define BS_TYPE_2 "e3m2"
#define BS_TYPE_3 "e4m3"
#define BS_TYPE_4 "e5m2"
#define BS_NAMED(number) BS_TYPE_##number
#define BS_TYPE(number) BS_NAMED(number)

// kind, scales along K and types of the one instruction that the source is compiled for.
#if A_FORMAT != 0 || B_FORMAT != 0
#define BS_INSTRUCTION                                                                            \
  "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32." BS_TYPE(A_FORMAT) "." BS_TYPE( \
      B_FORMAT) ".f32.ue8m0"
#elif SCALE_BLOCK == 32
#define BS_INSTRUCTION \
  "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
#else
#define BS_INSTRUCTION \
  "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
#endif

struct CommonMachine {
  typedef ::Output Output;
  __device__ static int thread() { return threadIdx.x; }
  __device__ static int block() { return blockIdx.x; }
  __device__ static int blocks() { return gridDim.x; }
  __device__ static void sync() { __syncthreads(); }
  __device__ static void syncWarp() { __syncwarp(); }
  __device__ static bool isLeader() { return electOne(); }
  // The swizzle works on absolute addresses.
  __device__ static u32 sharedStart() { return dynamicSharedStart() + 1023 & ~1023u; }

  __device__ static void initBarrier(u32 barrier, u32 arrivals) {
    ::initBarrier(barrier, arrivals);
  }
  __device__ static void publishBarriers() { ::publishBarriers(); }
  __device__ static void expect(u32 barrier, u32 bytes) { expectBytes(barrier, bytes); }
  __device__ static void arrive(u32 barrier) { arriveHere(barrier); }
  __device__ static void arriveBehind(u32 barrier, const float (&sums)[4]) {
    u32 all = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) all |= __float_as_uint(sums[i]);
    arriveHere(barrier + behind(all));
  }
  __device__ static void wait(u32 barrier, u32 parity) { waitFor(barrier, parity); }

  // Bytes from global memory to shared memory without registers, `valid` of them, then zeros.
  template <int Bytes>
  __device__ static void copy(u32 to, const u8* from, int valid) {
    if (Bytes == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid)
                   : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Bytes),
                   "r"(valid)
                   : "memory");
  }
  // Arrives once this thread's copies are there.
  __device__ static void arriveWhenCopied(u32 barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
  }

  __device__ static u32 loadWord(u32 address) { return ::loadWord(address); }
  __device__ static void loadPair(u32& low, u32& high, u32 address) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(low), "=r"(high) : "r"(address));
  }
  __device__ static u32 fromLane(u32 value, int distance) {
    return __shfl_xor_sync(0xffffffff, value, distance);
  }

  __device__ static Output toOutput(float value) { return ::toOutput(value); }
  __device__ static u32 toPair(float left, float right) { return toOutputPair(left, right); }
  __device__ static void storeFour(Output* to, const u32 (&words)[4]) {
    *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
  }
  __device__ static void storeTwo(float* to, float left, float right) {
    *reinterpret_cast<float2*>(to) = make_float2(left, right);
  }
  __device__ static void storeTwo(u16* to, float left, float right) {
    *reinterpret_cast<u32*>(to) = toOutputPair(left, right);
  }
};

// To the CTA's own shared memory: sm_120 does what names a cluster's by a call, for which
// setmaxnreg is left out. CUDA before 12.8 has the cluster's alone.
#if __CUDACC_VER_MAJOR__ > 12 || __CUDACC_VER_MINOR__ >= 8
#define BS_TENSOR(dimensions) "cp.async.bulk.tensor." dimensions ".shared::cta.global" BS_TELLING
#else
#define BS_TENSOR(dimensions) \
  "cp.async.bulk.tensor." dimensions ".shared::cluster.global" BS_TELLING
#endif
#define BS_TELLING ".mbarrier::complete_tx::bytes "

// Boxes that the copy engine brings: codes at (k, row), zeros beyond the matrix, and 512 bytes of
// scales for each group of four along K from `group`, of each 128 rows from `block`.
struct Maps {
  const TensorMap *a, *b, *aScales, *bScales;

  template <class T>
  __device__ void loadA(u32 to, int k, int row, u32 barrier) const {
    loadCodes(to, a, inBox<T>(k), row, barrier);
  }
  template <class T>
  __device__ void loadB(u32 to, int k, int row, u32 barrier) const {
    loadCodes(to, b, inBox<T>(k), row, barrier);
  }
  template <class T>
  __device__ void loadScalesA(u32 to, int group, int block, u32 barrier) const {
    loadScales(to, aScales, group, block, barrier);
  }
  template <class T>
  __device__ void loadScalesB(u32 to, int group, int block, u32 barrier) const {
    loadScales(to, bScales, group, block, barrier);
  }

 private:
  // Packed fp4 lies in the map as bytes.
  template <class T>
  __device__ static int inBox(int k) {
    return T::kDepth == 64 ? k / 2 : k;
  }
  __device__ static void loadCodes(u32 to, const TensorMap* map, int x, int y, u32 barrier) {
    asm volatile(BS_TENSOR("2d") "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(y),
                 "r"(barrier)
                 : "memory");
  }
  __device__ static void loadScales(u32 to, const TensorMap* map, int group, int block,
                                    u32 barrier) {
    asm volatile(BS_TENSOR("3d") "[%0], [%1, {0, %2, %3}], [%4];" ::"r"(to), "l"(map), "r"(group),
                 "r"(block), "r"(barrier)
                 : "memory");
  }
};

// sm_120a and its family.
struct NativeMachine : CommonMachine {
  static constexpr int kStepsAtOnce = 4;  // instructions along K that the compiler may interleave

  template <int Registers>
  __device__ static void giveRegistersBack() {
    ::giveRegistersBack<Registers>();
  }
  template <int Registers>
  __device__ static void takeRegisters() {
    ::takeRegisters<Registers>();
  }

  // Four matrices of 8 rows x 16 codes of `Bits` bits, or x 16 bytes: lane 8 i + r has the address
  // of row r of matrix i.
  template <int Bits>
  __device__ static void loadMatrices(u32 (&words)[4], u32 address) {
    if (Bits == 8) return ::loadMatrices(words, address);
    if (Bits == 4)
      asm volatile("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"(address));
    else
      asm volatile("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"(address));
  }

  template <class T>
  __device__ static void multiplyAdd(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, u32 scaleA,
                                     u32 scaleB) {
    asm("mma.sync.aligned." BS_INSTRUCTION
        " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {0, 0}, %11, {0, 0};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(scaleA), "r"(scaleB));
  }
};

// Any GPU from sm_90 on.
struct EmulatedMachine : CommonMachine {
  static constexpr int kStepsAtOnce = 1;

  // sm_90 without the "a" has none to exchange.
  template <int Registers>
  __device__ static void giveRegistersBack() {}
  template <int Registers>
  __device__ static void takeRegisters() {}

  template <int Bits>
  __device__ static void loadMatrices(u32 (&words)[4], u32 address) {
    if constexpr (Bits == 8) {
      ::loadMatrices(words, address);
    } else {
      UNROLL
      for (int matrix = 0; matrix < 4; matrix++) {
        const u32 row = __shfl_sync(0xffffffff, address, matrix * 8 + threadIdx.x % 32 / 4);
        words[matrix] = spreadCodes(Bits, unalignedBits(row, threadIdx.x % 4 * 4 * Bits));
      }
    }
  }

  template <class T>
  __device__ static void multiplyAdd(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, u32 scaleA,
                                     u32 scaleB) {
    const float4 sums = emulated<T>(make_float4(d[0], d[1], d[2], d[3]),
                                    {{a[0], a[1], a[2], a[3]}, {b0, b1}, scaleA, scaleB});
    d[0] = sums.x, d[1] = sums.y, d[2] = sums.z, d[3] = sums.w;
  }

 private:
  // Up to 24 bits from bit `first` of a 16-byte row of shared memory.
  __device__ static u32 unalignedBits(u32 row, int first) {
    const u32 word = row + first / 32 * 4;
    const u64 both = ::loadWord(word) | (u64)::loadWord(first / 32 < 3 ? word + 4 : word) << 32;
    return (u32)(both >> (first % 32));
  }

  // Registers of the other lanes.
  struct Shuffles {
    u32 ofA[4], ofB[2], scalesA, scalesB;
    __device__ static u32 from(u32 value, int lane) { return __shfl_sync(0xffffffff, value, lane); }
    // The word is the same in all lanes.
    __device__ u32 a(int lane, int word) const {
      return from(word == 0 ? ofA[0] : word == 1 ? ofA[1] : word == 2 ? ofA[2] : ofA[3], lane);
    }
    __device__ u32 b(int lane, int word) const { return from(word == 0 ? ofB[0] : ofB[1], lane); }
    __device__ u32 scaleA(int lane) const { return from(scalesA, lane); }
    __device__ u32 scaleB(int lane) const { return from(scalesB, lane); }
  };

  // Once in the machine code, not once an instruction.
  template <class T>
  __device__ static __noinline__ float4 emulated(float4 d, Shuffles warp) {
    u32 bits[4] = {__float_as_uint(d.x), __float_as_uint(d.y), __float_as_uint(d.z),
                   __float_as_uint(d.w)};
    blockscale::multiplyAdd(T::form(), threadIdx.x % 32, warp, {}, bits);
    return make_float4(__uint_as_float(bits[0]), __uint_as_float(bits[1]), __uint_as_float(bits[2]),
                       __uint_as_float(bits[3]));
  }
};

}  // namespace blockscale
