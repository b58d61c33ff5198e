// The emulated tcgen05 kernel as a GPU runs it, its warps for the tensor core too, on a CPU that
// stands in for one: C bit for bit as the instructions one after the other make it, and what it
// says of mistakes.
#include "emulatedGpu.h"
#include "productCheck.h"
#include "readJson.h"
#include "scaledProduct.h"

namespace {

using tcgen05::EmulatedMachine;

constexpr int kTensorThreads = 64;

// What a kernel leaves out or does otherwise.
enum class Mistake {
  kNone,
  kNoCommit,
  kNoWaitForStage,
  kNoWaitForSums,
  kNoWaitForRoom,
  kEarlyArrival,
  kNoLoadWait,
  kNoFence,
  kNoFree,
  kVersion,
  kUnwritten,
  kStrangeMask,
  kOtherBarrier,
  kOwnBytesExpected,
  kTwoCopies,
  kCopyOverReads,
  kScaleType,
};
Mistake mistake = Mistake::kNone;
u32 firstCodes;  // where A's first codes are brought to

template <class T>
struct Mistaken : EmulatedMachine<T> {
  using Base = EmulatedMachine<T>;
  using Base::Base;

  u32 placeOf(u32 barrier) const { return (barrier - this->sharedStart() - T::kBarriersAt) / 8; }
  bool isSums(u32 barrier) const { return placeOf(barrier) / 2 == T::kStages; }

  void expect(u32 barrier, u32 bytes) const {
    Base::expect(barrier, mistake == Mistake::kOwnBytesExpected ? T::kArriving : bytes);
  }
  void loadA(u32 to, int k, int row, u32 barrier) const {
    Base::loadA(to, k, row, barrier);
    if (mistake == Mistake::kTwoCopies) Base::loadA(to, k, row, barrier);
    if (k == 0 && this->rank() == 0) firstCodes = to;
  }
  void commit(u32 barrier, u16 mask) const {
    if (mistake == Mistake::kCopyOverReads) Base::loadA(firstCodes, 0, 0, barrier);
    if (mistake == Mistake::kNoCommit && isSums(barrier)) return;
    Base::commit(barrier, mistake == Mistake::kStrangeMask ? mask | 4 : mask);
  }
  void wait(u32 barrier, u32 parity) const {
    const u32 which = placeOf(barrier);
    if (mistake == Mistake::kNoWaitForStage && which < T::kStages) return;
    if (mistake == Mistake::kNoWaitForSums && isSums(barrier)) return;
    if (mistake == Mistake::kNoWaitForRoom && which >= T::kStages && which < 2 * T::kStages) return;
    Base::wait(barrier, parity);
    if (mistake == Mistake::kEarlyArrival && isSums(barrier))
      Base::arrive(this->ofFirst(barrier + 16));
  }
  void arrive(u32 barrier) const {
    if (mistake != Mistake::kEarlyArrival) Base::arrive(barrier);
  }
  u32 ofFirst(u32 barrier) const {
    return mistake == Mistake::kOtherBarrier ? barrier : Base::ofFirst(barrier);
  }
  void waitForLoads(u32 (&sums)[32]) const {
    if (mistake != Mistake::kNoLoadWait) Base::waitForLoads(sums);
  }
  void fenceAfterSync() const {
    if (mistake != Mistake::kNoFence) Base::fenceAfterSync();
  }
  template <int Columns>
  void free(u32 tensor) const {
    if (mistake != Mistake::kNoFree) Base::template free<Columns>(tensor);
  }
  template <class Tile>
  void multiplyAdd(u32 d, u64 a, u64 b, u32 instruction, u32 scalesA, u32 scalesB,
                   bool adds) const {
    if (mistake == Mistake::kVersion) a &= ~(3ull << 46);
    if (mistake == Mistake::kScaleType) instruction ^= 1u << 23;
    Base::template multiplyAdd<Tile>(d, a, b, instruction, scalesA, scalesB,
                                     adds || mistake == Mistake::kUnwritten);
  }
};

template <class T>
struct Product {
  static constexpr float kFactor = 0.75f;
  static constexpr int kScaleFormat = T::form().scale;
  int m, n, k, groups;
  ScaledMatrix a{{T::kA, kScaleFormat, T::kScaleBlock}, m, k, 0, "nvidia_32_4_4"},
      b{{T::kB, kScaleFormat, T::kScaleBlock}, n, k, 2, "nvidia_32_4_4"};
  GuardedOutput<float> c{m, n};

  static TensorMap codes(const ScaledMatrix& of, int format, int boxRows) {
    return {{of.packed.data(), of.k * tcgen05::storageBits(format) / 8, of.rows}, {128, boxRows}};
  }
  static TensorMap scales(const ScaledMatrix& of, int boxBlocks) {
    constexpr int kBytes = tcgen05::kScaleGroupBytes;
    const int groups = tcgen05::ceilDiv(of.k / T::kScaleBlock, tcgen05::kScaleGroup);
    return {{of.placed.data(), groups * kBytes, tcgen05::ceilDiv(of.rows, 128)},
            {T::kGroups * kBytes, boxBlocks, false}};
  }
  // Throws what the kernel found wrong.
  void run() {
    c = {m, n};
    const TensorMap mapA = codes(a, T::kA, T::kRowsA), mapB = codes(b, T::kB, T::kRowsB),
                    scalesA = scales(a, 1), scalesB = scales(b, T::kScaledB / 128);
    const tcgen05::EmulatedProblem problem = {&mapA,           &mapB,           &scalesA,
                                              &scalesB,        a.packed.data(), b.packed.data(),
                                              a.placed.data(), b.placed.data(), {m, n, k}};
    const int grid = groups * T::kCtas;
    using Workspace = typename Mistaken<T>::Workspace;
    // What was there before is no concern of the kernel's.
    const auto bytes = std::make_unique<u8[]>(sizeof(Workspace) * grid);
    std::fill_n(bytes.get(), sizeof(Workspace) * grid, u8{0xa5});
    tcgen05::Fault fault = {};
    for (int group = 0; group < groups; group++) {
      gpu::Cluster cluster(T::kThreads + kTensorThreads, T::kCtas, T::kBytes);
      gpu::run(cluster, group, groups, [&] {
        tcgen05::runEmulated<T, Mistaken<T>>(problem, bytes.get(), reinterpret_cast<u8*>(&fault),
                                             kFactor, c.data());
      });
    }
    if (fault.text[0] != 0) throw std::runtime_error(fault.text);
  }
  int wrong(int every) const { return wrongElements(T::form(), a, b, c, kFactor, every); }
};

// As resources/kernels/cuda/manifest.json has them.
template <int A, int B>
using Tile = tcgen05::Tile<A, B, 5, 32, 192, 5, 1>;
using Nvfp4 = tcgen05::Tile<0, 0, 6, 16, 192, 4, 1>;
template <int A, int B>
using PairTile = tcgen05::Tile<A, B, 5, 32, 192, 7, 2>;
using PairNvfp4 = tcgen05::Tile<0, 0, 6, 16, 192, 6, 2>;

template <class T>
void isRight(int m, int n, int k, int groups, int every) {
  Product<T> product{m, n, k, groups};
  checkProduct("emulated " + pairName(T::kA, T::kB, T::kScaleBlock), product, every);
}

template <class T>
void isSeen(Mistake which, const std::string& text, int m = 40, int k = 512) {
  mistake = which;
  Product<T> product{m, 24, k, 1};
  const std::string thrown = messageOf([&] { product.run(); });
  mistake = Mistake::kNone;
  checkThat(thrown.find(text) != std::string::npos,
            std::to_string(T::kCtas) + " CTAs, mistake " + std::to_string(static_cast<int>(which)) +
                " not seen: " + thrown,
            __FILE__, __LINE__);
}

template <class T>
void mistakesAreSeen() {
  const int threeTiles = 2 * T::kTileM + 44, allStages = 2 * T::kTileK * (T::kStages + 1);
  isSeen<T>(Mistake::kNoCommit, "a commit, an arrival or a copy is missing");
  isSeen<T>(Mistake::kNoWaitForStage, "the tensor core reads");
  isSeen<T>(Mistake::kNoWaitForSums, "tcgen05.ld reads column");
  isSeen<T>(Mistake::kNoWaitForRoom, "more arrivals in a phase", 40, allStages);
  isSeen<T>(Mistake::kEarlyArrival, "tensor memory column 0 is ", threeTiles);
  isSeen<T>(Mistake::kNoLoadWait, "tcgen05.wait::ld is missing", threeTiles);
  isSeen<T>(Mistake::kNoFence, "fence::after_thread_sync");
  isSeen<T>(Mistake::kNoFree, "tcgen05.dealloc is missing");
  isSeen<T>(Mistake::kVersion, "version is 0");
  isSeen<T>(Mistake::kUnwritten, "which nobody wrote");
  isSeen<T>(Mistake::kScaleType, "its types are not those of the operands");
  isSeen<T>(Mistake::kTwoCopies, "two copies at once to byte");
  isSeen<T>(Mistake::kCopyOverReads, "a copy over what the tensor core still reads");
}

// The manifest's workspace, which the source relies on, is what this is compiled with.
void isAsInTheManifest() {
  const Json manifest = readJson("../../resources/kernels/cuda/manifest.json");
  int rows = 0;
  for (const Json& row : manifest["kernels"].list)
    if (row["file"].text == "tcgen05.cu" && row["constants"].members.contains("EMULATED"))
      rows += int(row["constants"]["TENSOR_BYTES"]) == TENSOR_BYTES;
  CHECK(rows == 1);
}

}  // namespace

int main() {
  isAsInTheManifest();
  isRight<Tile<3, 3>>(257, 24, 160, 1, 7);
  isRight<Nvfp4>(131, 200, 288, 2, 7);
  isRight<Tile<3, 0>>(20, 225, 768, 1, 3);
  isRight<Tile<1, 2>>(20, 33, 256, 1, 3);
  isRight<PairTile<4, 3>>(300, 24, 1184, 1, 7);
  isRight<PairNvfp4>(259, 200, 288, 1, 7);
  isRight<PairTile<2, 4>>(130, 133, 256, 1, 3);
  mistakesAreSeen<Nvfp4>();
  mistakesAreSeen<PairTile<3, 3>>();
  isSeen<PairNvfp4>(Mistake::kStrangeMask, "CTA 2 is told of a cluster of 2");
  isSeen<PairNvfp4>(Mistake::kOtherBarrier, "a commit, an arrival or a copy is missing");
  isSeen<PairNvfp4>(Mistake::kOwnBytesExpected, " bytes where copies bring ");
  return summary();
}
