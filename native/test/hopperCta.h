// A CTA's shared memory and barriers for hopperMachine.h. What the copy engine brings is known by
// pieces: nobody reads one under way, and no copy goes over what was not read. What threads store
// is published before the copy engine reads it.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "copyEngine.h"
#include "mbarriers.h"

namespace hopper {

typedef uint32_t u32;

[[noreturn]] inline void fail(const std::string& what) { throw std::runtime_error(what); }

constexpr u32 kSharedStart = 1024;

struct Cta {
  explicit Cta(u32 bytes)
      : shared(kSharedStart + bytes), pieces(shared.size() / 16 + 1), unpublished(pieces.size()) {}
  enum class Piece : uint8_t { kUnknown, kUnderWay, kBrought, kKnown };
  std::vector<uint8_t> shared;
  std::vector<Piece> pieces;         // of 16 bytes
  std::vector<uint8_t> unpublished;  // stores of each that no fence has followed
  Mbarriers barriers;
  int threadsEnded = 0;

  uint8_t* at(u32 address, size_t bytes) {
    if (address < kSharedStart || address + bytes > shared.size())
      fail("an access outside shared memory at byte " + std::to_string(address));
    return &shared[address];
  }
  void write(u32 address, const void* from, size_t bytes) {
    std::memcpy(at(address, bytes), from, bytes);
    for (u32 piece = address / 16; piece <= (address + bytes - 1) / 16; piece++)
      pieces[piece] = Piece::kKnown;
  }
  // Bytes of one piece.
  const uint8_t* read(u32 address, size_t bytes) {
    Piece& piece = pieces[address / 16];
    const uint8_t* found = at(address, bytes);
    if (piece == Piece::kUnknown || piece == Piece::kUnderWay)
      fail((piece == Piece::kUnknown ? "a read of what nobody wrote at byte "
                                     : "a read under a copy at byte ") +
           std::to_string(address));
    piece = Piece::kKnown;
    return found;
  }
  // What the copy engine or a product reads: a whole piece.
  const uint8_t* readAsync(u32 address) {
    if (unpublished[address / 16] > 0)
      fail("a read of what was not published at byte " + std::to_string(address));
    return read(address, 16);
  }
  void begin(u32 address) {
    at(address, 16);
    Piece& piece = pieces[address / 16];
    if (piece == Piece::kUnderWay || piece == Piece::kBrought)
      fail((piece == Piece::kUnderWay ? "two copies at once at byte "
                                      : "a copy over what nobody has read at byte ") +
           std::to_string(address));
    piece = Piece::kUnderWay;
  }
  void bring(const fibers::Piece& piece) {
    std::memcpy(at(piece.place, 16), piece.bytes.data(), 16);
    pieces[piece.place / 16] = piece.isOutside ? Piece::kKnown : Piece::kBrought;
  }
  u32 word(u32 address) {
    u32 value;
    std::memcpy(&value, read(address, 4), 4);
    return value;
  }
};

}  // namespace hopper
