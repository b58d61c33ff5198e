// What the tcgen05 product needs of a GPU beside arithmetic (gemm.cuh), as PTX of sm_100a and its
// family: PTX ISA 9.0, "TensorCore 5th Generation Instructions".
#pragma once

#include "common/pipeline.cuh"
#include "common/tcgen05/gemm.cuh"

namespace tcgen05 {

// kind::mxf8f6f4 and mxf4 have one block each. `.block16` is the newer name of scale_vec::4X.
#if A_FORMAT != 0 || B_FORMAT != 0
#define TC_KIND "kind::mxf8f6f4.block_scale"
#elif SCALE_BLOCK == 32
#define TC_KIND "kind::mxf4.block_scale"
#elif __CUDACC_VER_MAJOR__ > 12 || __CUDACC_VER_MINOR__ >= 9
#define TC_KIND "kind::mxf4nvf4.block_scale.block16"
#else
#define TC_KIND "kind::mxf4nvf4.block_scale.scale_vec::4X"
#endif

// A pair of CTAs is a cluster of two.
#if CTAS == 2
#define TC_GROUP "cta_group::2"
#define TC_LOAD ".mbarrier::complete_tx::bytes.cta_group::2 "
#else
#define TC_GROUP "cta_group::1"
#define TC_LOAD ".mbarrier::complete_tx::bytes "
#endif

struct NativeMachine {
  typedef ::Output Output;
  const TensorMap *a, *b, *aScales, *bScales;

  __device__ static int thread() { return threadIdx.x; }
  // Which CTA, or pair, of how many.
  __device__ static int group() { return blockIdx.x / CTAS; }
  __device__ static int groups() { return gridDim.x / CTAS; }
  // Which one of the pair.
  __device__ static int rank() { return CTAS == 1 ? 0 : (int)clusterRank(); }
  // Of all threads that share a tile.
  __device__ static void syncAll() {
    if (CTAS == 1) __syncthreads();
    else syncCluster();
  }
  __device__ static bool isLeader() {
    u32 is;
    asm volatile(
        "{ .reg .pred leader; elect.sync _|leader, 0xffffffff; selp.u32 %0, 1, 0, leader; }"
        : "=r"(is));
    return is != 0;
  }
  // The swizzle works on absolute addresses: rounded up here, because the array's own alignment is
  // not kept where other shared variables are linked before it.
  __device__ static u32 sharedStart() {
    extern __shared__ __align__(16) u8 dynamic[];
    return sharedAddress(dynamic) + 1023 & ~1023u;
  }
  __device__ static u32 loadWord(u32 address) { return ::loadWord(address); }

  __device__ static void initBarrier(u32 barrier, u32 arrivals) {
    ::initBarrier(barrier, arrivals);
  }
  __device__ static void publishBarriers() { ::publishBarriers(); }
  __device__ static void expect(u32 barrier, u32 bytes) { expectBytes(barrier, bytes); }
  // The same place in the first CTA of the pair.
  __device__ static u32 ofFirst(u32 address) { return CTAS == 1 ? address : atCta(address, 0); }
  __device__ static void arrive(u32 barrier) {
    if (CTAS == 1) arriveHere(barrier);
    else arriveThere(barrier);
  }
  __device__ static void wait(u32 barrier, u32 parity) { waitFor(barrier, parity); }

  // A box of codes at (k, row) of A or B, zeros beyond the matrix. With cta_group::2 the barrier
  // may be the other CTA's.
  __device__ void loadA(u32 to, int k, int row, u32 barrier) const {
    loadCodes(to, a, inBox(k), row, barrier);
  }
  __device__ void loadB(u32 to, int k, int row, u32 barrier) const {
    loadCodes(to, b, inBox(k), row, barrier);
  }
  // 512 bytes for each group of four scales along K from `group`, of each 128 rows from `block`.
  __device__ void loadScalesA(u32 to, int group, int block, u32 barrier) const {
    loadScales(to, aScales, group, block, barrier);
  }
  __device__ void loadScalesB(u32 to, int group, int block, u32 barrier) const {
    loadScales(to, bScales, group, block, barrier);
  }

  template <int Columns>
  __device__ static void allocate(u32 address) {
    asm volatile("tcgen05.alloc." TC_GROUP ".sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(address),
                 "n"(Columns)
                 : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit." TC_GROUP ".sync.aligned;");
  }
  template <int Columns>
  __device__ static void free(u32 tensor) {
    asm volatile("tcgen05.dealloc." TC_GROUP ".sync.aligned.b32 %0, %1;" ::"r"(tensor),
                 "n"(Columns));
  }

  __device__ static void fenceBeforeSync() {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  }
  __device__ static void fenceAfterSync() {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  }
  __device__ static void copyScales(u32 column, u64 descriptor) {
    asm volatile("tcgen05.cp." TC_GROUP ".32x128b.warpx4 [%0], %1;" ::"r"(column), "l"(descriptor)
                 : "memory");
  }
  template <class T>
  __device__ static void multiplyAdd(u32 d, u64 a, u64 b, u32 instruction, u32 scalesA, u32 scalesB,
                                     bool adds) {
    asm volatile(
        "{ .reg .pred adds; setp.ne.u32 adds, %6, 0;\n"
        "tcgen05.mma." TC_GROUP "." TC_KIND " [%0], %1, %2, %3, [%4], [%5], adds; }" ::"r"(d),
        "l"(a), "l"(b), "r"(instruction), "r"(scalesA), "r"(scalesB), "r"((u32)adds)
        : "memory");
  }
  // Arrives at the barriers of this place in all CTAs of `mask`.
  __device__ static void commit(u32 barrier, u16 mask) {
#if CTAS == 2
    asm volatile(
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
        "[%0], %1;" ::"r"(barrier),
        "h"(mask)
        : "memory");
#else
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
        : "memory");
#endif
  }

#define TC_FOUR(c, i) c(sums[i]), c(sums[i + 1]), c(sums[i + 2]), c(sums[i + 3])
#define TC_ALL(c)                                                                              \
  TC_FOUR(c, 0), TC_FOUR(c, 4), TC_FOUR(c, 8), TC_FOUR(c, 12), TC_FOUR(c, 16), TC_FOUR(c, 20), \
      TC_FOUR(c, 24), TC_FOUR(c, 28)
  // 32 columns of this warp's lanes, there once they are waited for.
  __device__ static void loadSums(u32 (&sums)[32], u32 address) {
    asm volatile(
        "tcgen05.ld.sync.aligned.32x32b.x32.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
        "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
        "%30, %31}, [%32];"
        : TC_ALL("=r")
        : "r"(address));
  }
  // Takes the registers, so that nothing that reads them is moved before.
  __device__ static void waitForLoads(u32 (&sums)[32]) {
    asm volatile("tcgen05.wait::ld.sync.aligned;" : TC_ALL("+r")::"memory");
  }
#undef TC_ALL
#undef TC_FOUR

  __device__ static float number(u32 bits) { return __uint_as_float(bits); }
  __device__ static u32 bits(float number) { return __float_as_uint(number); }
  __device__ static Output toOutput(float value) { return ::toOutput(value); }
  __device__ static u32 toPair(float left, float right) { return toOutputPair(left, right); }
  __device__ static void storeFour(Output* to, const u32 (&words)[4]) {
    *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
  }

 private:
  __device__ static void loadCodes(u32 to, const TensorMap* map, int x, int y, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile" TC_LOAD
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
  }
  __device__ static void loadScales(u32 to, const TensorMap* map, int group, int block,
                                    u32 barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile" TC_LOAD
                 "[%0], [%1, {0, %2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(group), "r"(block), "r"(barrier)
                 : "memory");
  }
  // Packed fp4 lies in the map as bytes.
  __device__ static int inBox(int k) { return A_FORMAT == 0 && B_FORMAT == 0 ? k / 2 : k; }
};

}  // namespace tcgen05
