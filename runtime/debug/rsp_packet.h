// Frames of GDB's remote serial protocol: $data#checksum, escapes, and single characters between
// them.
//
// Source: the appendix "GDB Remote Serial Protocol" of GDB's manual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"

namespace ttfd::debug {

// Data of one packet, both ways; GDB is told. More ends the connection.
inline constexpr size_t kMaxPacketBytes = 16384;

// One frame around `data`, with the characters escaped that mean something to the protocol.
std::string FramePacket(std::string_view data);

// Takes bytes as they come and cuts them into what was sent.
class PacketReader {
 public:
  enum class Kind {
    kPacket,     // `data` is what was in it, escapes undone
    kInterrupt,  // Ctrl-C
    kNack,       // send the last packet again
    kDamaged,    // a packet whose checksum is wrong: ask for it again
    kTooLong,    // more than kMaxPacketBytes: not this protocol
  };
  struct Item {
    Kind kind;
    std::string data;
  };

  // Looks at `bytes`; calls `take(Item)` for everything that they complete.
  template <typename Take>
  void Put(std::string_view bytes, const Take& take) {
    for (const char byte : bytes) {
      if (std::optional<Item> item = Next(byte)) take(std::move(*item));
    }
  }

 private:
  enum class State { kBetween, kData, kEscaped, kChecksum1, kChecksum2 };

  std::optional<Item> Next(char byte);
  std::optional<Item> NextOfData(char byte);
  std::optional<Item> Add(char byte);

  State state_ = State::kBetween;
  std::string data_;
  uint8_t sum_ = 0;
  uint8_t claimed_ = 0;
};

// ---- hexadecimal

std::string ToHex(ByteSpan bytes);
// A 32-bit register or word, in the target's (little-endian) order of bytes.
std::string WordToHex(uint32_t value);
// Cuts a number of at most 16 digits off the front of `text`; nothing if there is none.
std::optional<uint64_t> TakeHex(std::string_view* text);
// Whole pairs of digits; nothing if `text` is anything else.
std::optional<std::string> BytesFromHex(std::string_view text);

// Cuts the text before `separator`, or all of it, off the front of `text`.
std::string_view TakeUntil(std::string_view* text, char separator);

}  // namespace ttfd::debug
