// Framing, escapes, hexadecimal.
#include "runtime/debug/rsp_packet.h"

#include <utility>

namespace ttfd::debug {
namespace {

constexpr char kStart = '$';
constexpr char kEnd = '#';
constexpr char kEscape = '}';
constexpr char kRepeat = '*';  // run lengths; only GDB expands them
constexpr char kEscapeMask = 0x20;
constexpr char kInterrupt = 0x03;
constexpr char kDigits[] = "0123456789abcdef";

// -1: no digit.
int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string FramePacket(std::string_view data) {
  std::string frame(1, kStart);
  frame.reserve(data.size() + 4);
  uint8_t sum = 0;
  const auto put = [&frame, &sum](char c) {
    frame += c;
    sum = static_cast<uint8_t>(sum + static_cast<uint8_t>(c));
  };
  for (const char c : data) {
    if (c == kStart || c == kEnd || c == kEscape || c == kRepeat) {
      put(kEscape);
      put(static_cast<char>(c ^ kEscapeMask));
    } else {
      put(c);
    }
  }
  frame += kEnd;
  frame += kDigits[sum >> 4];
  frame += kDigits[sum & 15];
  return frame;
}

std::optional<PacketReader::Item> PacketReader::Next(char byte) {
  switch (state_) {
    case State::kBetween:
      if (byte == kInterrupt) return Item{Kind::kInterrupt, {}};
      if (byte == '-') return Item{Kind::kNack, {}};
      if (byte == kStart) {
        state_ = State::kData;
        data_.clear();
        sum_ = 0;
      }
      return {};  // an acknowledgement, or noise
    case State::kData:
    case State::kEscaped:
      return NextOfData(byte);
    case State::kChecksum1:
      claimed_ = static_cast<uint8_t>(Digit(byte) << 4);
      state_ = Digit(byte) < 0 ? State::kBetween : State::kChecksum2;
      if (state_ == State::kBetween) return Item{Kind::kDamaged, {}};
      return {};
    case State::kChecksum2:
      state_ = State::kBetween;
      if (Digit(byte) < 0 || sum_ != (claimed_ | Digit(byte))) return Item{Kind::kDamaged, {}};
      return Item{Kind::kPacket, std::exchange(data_, {})};
  }
  return {};
}

std::optional<PacketReader::Item> PacketReader::NextOfData(char byte) {
  if (byte == kEnd) {
    state_ = State::kChecksum1;
    return {};
  }
  if (byte == kStart) {  // the rest of the one before was lost
    state_ = State::kData;
    data_.clear();
    sum_ = 0;
    return {};
  }
  sum_ = static_cast<uint8_t>(sum_ + static_cast<uint8_t>(byte));
  if (state_ == State::kEscaped) {
    state_ = State::kData;
    return Add(static_cast<char>(byte ^ kEscapeMask));
  }
  if (byte == kEscape) {
    state_ = State::kEscaped;
    return {};
  }
  return Add(byte);
}

std::optional<PacketReader::Item> PacketReader::Add(char byte) {
  if (data_.size() == kMaxPacketBytes) {
    state_ = State::kBetween;
    data_.clear();
    return Item{Kind::kTooLong, {}};
  }
  data_ += byte;
  return {};
}

std::string ToHex(ByteSpan bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

std::string WordToHex(uint32_t value) { return ToHex(BytesOf(value)); }

std::optional<uint64_t> TakeHex(std::string_view* text) {
  constexpr size_t kMaxDigits = 16;
  uint64_t value = 0;
  size_t digits = 0;
  while (digits < text->size() && digits < kMaxDigits && Digit((*text)[digits]) >= 0) {
    value = value << 4 | static_cast<uint64_t>(Digit((*text)[digits]));
    ++digits;
  }
  text->remove_prefix(digits);
  if (digits == 0) return {};
  return value;
}

std::optional<std::string> BytesFromHex(std::string_view text) {
  if (text.size() % 2 != 0) return {};
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = Digit(text[i]);
    const int low = Digit(text[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

std::string_view TakeUntil(std::string_view* text, char separator) {
  const size_t end = text->find(separator);
  const std::string_view head = text->substr(0, end);
  *text = end == std::string_view::npos ? std::string_view() : text->substr(end + 1);
  return head;
}

}  // namespace ttfd::debug
