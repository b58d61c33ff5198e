// Boxes of matrices as the copy engine of clusters brings them to shared memory (PTX ISA 9.0,
// "cp.async.bulk.tensor", "Swizzling modes"), under way until somebody ends them; and addresses of
// a cluster's shared memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace fibers {

// An address of shared::cluster, as mapa gives it; one of shared::cta is its user's.
inline uint32_t localAddress(uint32_t address) { return address & 0xffffff; }
inline uint32_t mappedAddress(uint32_t address, int rank) {
  return localAddress(address) | static_cast<uint32_t>(rank + 1) << 24;
}
inline int rankOfAddress(uint32_t address, int user) {
  return address >> 24 == 0 ? user : static_cast<int>(address >> 24) - 1;
}

struct Piece {
  uint32_t place;
  std::array<uint8_t, 16> bytes;
  bool isOutside = false;  // of what was copied: nobody need read it
};

struct Matrix {
  const uint8_t* start;
  int64_t rowBytes, rows;
};

// Rows of `bytes` of shared memory, 16 of which `pieceBytes` of the matrix fill.
struct Box {
  int bytes, rows;
  bool isSwizzled = true;  // within rows of 32, 64 or 128 bytes
  int pieceBytes = 16;

  uint32_t place(int row, int piece) const {
    const int with = !isSwizzled ? 0 : row * bytes / 128 % (bytes / 16);
    return static_cast<uint32_t>(row * bytes + (piece ^ with) * 16);
  }
  // From byte `x` of row `y` on, zeros beyond the matrix; to shared memory from `to` on.
  std::vector<Piece> pieces(const Matrix& of, int64_t x, int64_t y, uint32_t to) const {
    std::vector<Piece> all;
    for (int row = 0; row < rows; row++)
      for (int piece = 0; piece < bytes / 16; piece++) {
        Piece& one = all.emplace_back(Piece{to + place(row, piece), {}});
        const int64_t first = x + piece * pieceBytes;
        one.isOutside = y + row < 0 || y + row >= of.rows || first >= of.rowBytes;
        if (one.isOutside) continue;
        std::memcpy(one.bytes.data(), of.start + (y + row) * of.rowBytes + first,
                    static_cast<size_t>(std::min<int64_t>(pieceBytes, of.rowBytes - first)));
      }
    return all;
  }
  int64_t bytesOfMatrix() const { return int64_t{rows} * (bytes / 16) * pieceBytes; }
};

struct BoxCopy {
  int rank;  // whose shared memory it goes to
  std::vector<Piece> pieces;
  uint32_t barrier;  // of shared::cluster
  int64_t bytes;     // that it is told of
};

// Copies end in any order: whichever chance says.
template <class Copy>
class UnderWay {
 public:
  void begin(Copy copy) { all_.push_back(std::move(copy)); }
  bool empty() const { return all_.empty(); }
  uint32_t nextChance() { return chance_ = chance_ * 1664525 + 1013904223; }
  Copy take(uint32_t chance) {
    const auto which = all_.begin() + static_cast<std::ptrdiff_t>((chance >> 16) % all_.size());
    Copy copy = std::move(*which);
    all_.erase(which);
    return copy;
  }

 private:
  std::vector<Copy> all_;
  uint32_t chance_ = 12345;
};
using CopiesUnderWay = UnderWay<BoxCopy>;

}  // namespace fibers
