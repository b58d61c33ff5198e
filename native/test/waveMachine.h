// The machine of the block-scaled MFMA kernel (resources/kernels/hip/common/gemm.h) whose threads
// are fibers of a CPU: 64 lanes a wave, copies to LDS that end when they are waited for, with
// addresses, alignment and order checked.
#pragma once

#include <bit>

#include "../../resources/kernels/hip/common/emulation.h"
#include "../core/outputs.h"
#include "fiberBlock.h"
#include "memorySpan.h"

namespace waves {

using fibers::Span;
using WaveBlock = fibers::Block<64, 2 * mfma::kMostWords + 2>;

// What a kernel or an instruction could do wrong; each must be seen.
enum class Mistake {
  kNone,
  kNoBarrier,          // waves do not wait for one another
  kEarlyRead,          // copies are not waited for
  kNoZeros,            // copies beyond the matrix bring something else
  kScaleLanesSwapped,  // scales of the first operand from the neighbouring row's lane
  kNextColumnsScale,   // scales of the second operand likewise
  kNextBlocksScale,    // scales of the neighbouring block along K
  kScaleByte,          // another byte of the first operand's scale register
  kFormat,             // the second operand read as another format of the same width
  kOneRun,             // 8 bits: a lane has 32 neighbours along K
  kSwizzle,            // LDS read without the exchange of pieces
};

struct Launch {
  int blocks;
  size_t ldsBytes;
  std::vector<Span> readable;
  Span c;
  Mistake mistake = Mistake::kNone;
};

// `Float` -> bits of C's type: 16 bits, or float itself.
template <blockscope::OutputType Type>
auto outputOf(float value) {
  if constexpr (Type == blockscope::OutputType::kF16) return blockscope::floatToHalf(value);
  else if constexpr (Type == blockscope::OutputType::kBf16) return blockscope::floatToBf16(value);
  else return value;
}

template <blockscope::OutputType Type>
class Machine {
 public:
  using Output = decltype(outputOf<Type>(0.0f));

  Machine(const Launch& launch, WaveBlock& block, fibers::SharedMemory& lds, int number)
      : launch_(launch), fibers_(block), lds_(lds), number_(number), thread_(block.current()) {}

  int thread() const { return thread_; }
  int wave() const { return thread_ / mfma::kLanes; }
  int block() const { return number_; }
  const u8* zeros() const {
    // 0x7f: NaN of e4m3, the largest number of fp4, a scale of 1.
    alignas(16) static const u8 kZeros[16] = {},
                                kOthers[16] = {0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f,
                                               0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f};
    return launch_.mistake == Mistake::kNoZeros ? kOthers : kZeros;
  }
  void sync() const {
    if (launch_.mistake != Mistake::kNoBarrier) fibers_.sync();
  }

  // global_load_lds_dword, _dwordx4: the first lane's M0 says where; lanes follow one another.
  template <int Bytes>
  void copy(u32 to, const u8* from) const {
    static_assert(Bytes == 4 || Bytes == 16, "global_load_lds has these sizes");
    const int first = wave() * mfma::kLanes;
    if (fibers_.exchange(1000 + Bytes, {to})[0][0] != to)
      fail("lanes that copy to different places");
    if (to % Bytes != 0 || reinterpret_cast<uintptr_t>(from) % 4 != 0)
      fail("a copy that is not aligned");
    if (from != zeros()) fibers::checkReadable(launch_.readable, from, Bytes);
    fibers::Copy copied{to + (thread_ - first) * Bytes, Bytes, {}};
    std::memcpy(copied.bytes.data(), from, Bytes);
    lds_.beginCopy(copied.to, Bytes, thread_, fibers_.epoch());
    open_.push_back(copied);
  }
  void waitForCopies() const {
    if (launch_.mistake == Mistake::kEarlyRead) return;
    for (const fibers::Copy& one : open_)
      lds_.endCopy(one.to, one.bytes.data(), one.count, thread_, fibers_.epoch());
    open_.clear();
  }

  u32 loadWord(const u8* from) const { return load<u32>(from); }
  u32 loadByte(const u8* from) const { return load<u8>(from); }
  float loadFloat(const float* from) const { return load<float>(from); }
  void loadLds16(u32* to, u32 from) const { readLds(to, from, 16); }
  void loadLds8(u32* to, u32 from) const { readLds(to, from, 8); }

  void storeFour(Output* to, const float (&values)[4]) const {
    Output four[4];
    for (int i = 0; i < 4; i++) four[i] = outputOf<Type>(values[i]);
    fibers::storeIn(launch_.c, to, four, sizeof four);
  }
  void storeOne(Output* to, float value) const {
    const Output one = outputOf<Type>(value);
    fibers::storeIn(launch_.c, to, &one, sizeof one);
  }

  template <class T>
  void multiplyAdd(float (&d)[T::form().sums()], const mfma::Fragment& a, const mfma::Fragment& b,
                   int byteA, u32 scaleA, int byteB, u32 scaleB) const {
    typename WaveBlock::Shown mine;
    std::copy_n(a.words, mfma::kMostWords, mine.begin());
    std::copy_n(b.words, mfma::kMostWords, mine.begin() + mfma::kMostWords);
    mine[16] = scaleA, mine[17] = scaleB;
    mfma::Form form = T::form();
    if (launch_.mistake == Mistake::kFormat)
      form.b = form.b == 3 ? 4 : form.b == 4 ? 3 : 3 - form.b;
    if (launch_.mistake == Mistake::kScaleByte) byteA = (byteA + 1) % 4;
    const Registers wave = {fibers_.exchange(byteA * 4 + byteB, mine), form, launch_.mistake};
    mfma::multiplyAdd(form, thread_ % mfma::kLanes, wave, {byteA, byteB}, d);
  }

 private:
  struct Registers {
    const WaveBlock::ShownByAll& shown;
    mfma::Form form;
    Mistake mistake;
    u32 a(int lane, int word) const { return operand(0, form.a, lane, word); }
    u32 b(int lane, int word) const { return operand(8, form.b, lane, word); }
    u32 scaleA(int lane) const {
      if (mistake == Mistake::kScaleLanesSwapped) lane ^= 1;
      if (mistake == Mistake::kNextBlocksScale) lane = (lane + form.edge) % mfma::kLanes;
      return shown[lane][16];
    }
    u32 scaleB(int lane) const {
      return shown[mistake == Mistake::kNextColumnsScale ? lane ^ 1 : lane][17];
    }

   private:
    // As if lane p of a row had elements 32 p to 32 p + 31.
    u32 operand(int first, int format, int lane, int word) const {
      if (mistake == Mistake::kOneRun && mfma::bitsOf(format) == 8) {
        const int run = word / 4 * form.groups() + lane / form.edge;
        lane = run / 2 * form.edge + lane % form.edge, word = run % 2 * 4 + word % 4;
      }
      return shown[lane][first + word];
    }
  };

  void readLds(u32* to, u32 from, size_t bytes) const {
    if (from % bytes != 0) fail("a load that is not aligned");
    if (launch_.mistake == Mistake::kSwizzle) from ^= from / 128 % 2 * 16;
    lds_.read(from, to, bytes, thread_, fibers_.epoch());
  }
  template <typename T>
  T load(const void* from) const {
    const auto* bytes = static_cast<const u8*>(from);
    T value;
    if (bytes != zeros()) fibers::checkReadable(launch_.readable, bytes, sizeof value);
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  [[noreturn]] static void fail(const char* what) { throw std::runtime_error(what); }

  const Launch& launch_;
  WaveBlock& fibers_;
  fibers::SharedMemory& lds_;
  int number_, thread_;
  mutable std::vector<fibers::Copy> open_;
};

// Every block of a launch, one after the other; `body` takes the thread's machine.
template <blockscope::OutputType Type, typename Body>
void launch(const Launch& of, int threads, Body body) {
  for (int number = 0; number < of.blocks; number++) {
    WaveBlock block(threads);
    fibers::SharedMemory lds(of.ldsBytes);
    block.run([&] { body(Machine<Type>(of, block, lds, number)); });
  }
}

}  // namespace waves
