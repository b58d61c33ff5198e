// UTF-8 of code points: texts of a shard are written so, whatever the program has.
#pragma once

#include <cstdint>
#include <string>

namespace blockscope::inject {

inline void appendUtf8(std::string& text, uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 63));
    text += static_cast<char>(0x80 | (code & 63));
  } else {
    text += static_cast<char>(0xf0 | ((code >> 18) & 7));
    text += static_cast<char>(0x80 | ((code >> 12) & 63));
    text += static_cast<char>(0x80 | ((code >> 6) & 63));
    text += static_cast<char>(0x80 | (code & 63));
  }
}

}  // namespace blockscope::inject
