// Carries out a kernel's format string. Nothing of it or of its arguments is believed.
#include "runtime/command/print_text.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "runtime/abi/kernel_image.h"
#include "runtime/abi/print_format.h"
#include "runtime/abi/print_ring.h"

namespace ttfd {
namespace {

class PrintFormatter {
 public:
  PrintFormatter(const KernelImage& image, uint32_t address, std::span<const uint32_t> words)
      : image_(image), address_(address), words_(words) {}

  std::string Run() {
    const uint32_t format_address = Word().value_or(0);
    const std::optional<std::string_view> format = Constant(format_address);
    if (!format.has_value()) {
      return fmt::format("(a print whose format is at {:#x}, outside its kernel)", format_address);
    }
    const char* at = format->data();
    const char* const end = at + format->size();
    while (at != end && text_.size() <= kMaxPrintTextBytes) {
      const char* const percent = std::find(at, end, '%');
      Append({at, static_cast<size_t>(percent - at)});
      at = percent;
      if (at == end) break;
      const abi::PrintConversion conversion = abi::ReadPrintConversion(at, end);
      Convert(conversion, {at, conversion.length});
      at += conversion.length;
    }
    if (text_.size() > kMaxPrintTextBytes) {
      text_.resize(kMaxPrintTextBytes);
      text_ += "...";
    } else if (text_.ends_with('\n')) {
      text_.pop_back();
    }
    return std::move(text_);
  }

 private:
  // The string at an L1 address, if it lies in the part of the image that nobody changes.
  std::optional<std::string_view> Constant(uint32_t address) const {
    const auto header = LoadAt<abi::KernelImageHeader>(image_.bytes.data());
    const uint64_t size = std::min<uint64_t>(header.data_offset, image_.bytes.size());
    if (address < address_ || address - address_ >= size) return std::nullopt;
    const std::string_view all(reinterpret_cast<const char*>(image_.bytes.data()), size);
    const size_t end = all.find('\0', address - address_);
    if (end == all.npos) return std::nullopt;
    return all.substr(address - address_, end - (address - address_));
  }

  std::optional<uint32_t> Word() {
    if (next_ == words_.size()) return std::nullopt;
    return words_[next_++];
  }

  void Append(std::string_view text) {
    // One byte more than is kept tells that there was more.
    const size_t room =
        kMaxPrintTextBytes + 1 - std::min<size_t>(text_.size(), kMaxPrintTextBytes + 1);
    text_ += text.substr(0, room);
  }
  void Repeat(size_t count, char letter) {
    Append(std::string(std::min<size_t>(count, kMaxPrintTextBytes + 1), letter));
  }
  void Missing() { Append("(missing)"); }

  void Pad(const abi::PrintConversion& conversion, std::string_view text) {
    const size_t fill = conversion.width > text.size() ? conversion.width - text.size() : 0;
    if (!conversion.left) Repeat(fill, ' ');
    Append(text);
    if (conversion.left) Repeat(fill, ' ');
  }

  // Replaces stars by their arguments; false if there are none.
  bool ReadStars(abi::PrintConversion& conversion) {
    if (conversion.width_argument) {
      const std::optional<uint32_t> word = Word();
      if (!word.has_value()) return false;
      const int64_t width = static_cast<int32_t>(*word);
      conversion.left |= width < 0;
      conversion.width = Limited(width < 0 ? -width : width);
    }
    if (conversion.precision_argument) {
      const std::optional<uint32_t> word = Word();
      if (!word.has_value()) return false;
      const int64_t precision = static_cast<int32_t>(*word);
      conversion.has_precision = precision >= 0;
      conversion.precision = Limited(std::max<int64_t>(precision, 0));
    }
    return true;
  }
  static uint32_t Limited(int64_t number) {
    return static_cast<uint32_t>(std::min<int64_t>(number, abi::kPrintNumberLimit));
  }

  void Convert(abi::PrintConversion conversion, std::string_view as_written) {
    if (conversion.kind == abi::PrintKind::kNotUnderstood) return Append(as_written);
    if (!ReadStars(conversion)) return Missing();
    switch (conversion.kind) {
      case abi::PrintKind::kPercent:
        return Append("%");
      case abi::PrintKind::kString:
        return String(conversion);
      case abi::PrintKind::kCharacter: {
        const std::optional<uint32_t> word = Word();
        if (!word.has_value()) return Missing();
        const char letter = static_cast<char>(*word);
        return Pad(conversion, {&letter, 1});
      }
      case abi::PrintKind::kPointer:
        conversion.alternate = true;
        conversion.letter = 'p';
        [[fallthrough]];
      default:
        return Integer(conversion);
    }
  }

  void Integer(const abi::PrintConversion& conversion) {
    const std::optional<uint32_t> low = Word();
    const std::optional<uint32_t> high = conversion.bytes == 8 ? Word() : 0;
    if (!low.has_value() || !high.has_value()) return Missing();
    const uint32_t unused = 64 - 8 * conversion.bytes;
    uint64_t value = (uint64_t{*high} << 32 | *low) << unused;
    std::string sign;
    if (conversion.kind == abi::PrintKind::kSigned) {
      const auto wide = static_cast<int64_t>(value) >> unused;
      value = wide < 0 ? uint64_t{0} - static_cast<uint64_t>(wide) : static_cast<uint64_t>(wide);
      sign = wide < 0 ? "-" : conversion.plus ? "+" : conversion.space ? " " : "";
    } else {
      value >>= unused;
      if (conversion.alternate) sign = Prefix(conversion.letter, value);
    }
    std::string digits = Digits(conversion.letter, value);
    if (conversion.has_precision && conversion.precision == 0 && value == 0) digits.clear();
    size_t most = conversion.has_precision ? conversion.precision : 1;
    if (conversion.letter == 'o' && conversion.alternate && !digits.starts_with('0')) {
      most = std::max(most, digits.size() + 1);
    }
    if (conversion.zeros && !conversion.left && !conversion.has_precision &&
        conversion.width > sign.size()) {
      most = std::max<size_t>(most, conversion.width - sign.size());
    }
    if (digits.size() < most) digits.insert(0, most - digits.size(), '0');
    Pad(conversion, sign + digits);
  }

  static std::string Prefix(char letter, uint64_t value) {
    if (letter == 'p') return "0x";
    if (value == 0) return "";
    return letter == 'x' ? "0x" : letter == 'X' ? "0X" : "";
  }

  static std::string Digits(char letter, uint64_t value) {
    switch (letter) {
      case 'x':
      case 'p':
        return fmt::format("{:x}", value);
      case 'X':
        return fmt::format("{:X}", value);
      case 'o':
        return fmt::format("{:o}", value);
      default:
        return fmt::format("{}", value);
    }
  }

  void String(const abi::PrintConversion& conversion) {
    const std::optional<uint32_t> word = Word();
    if (!word.has_value()) return Missing();
    std::string text;
    if ((*word & abi::kPrintCopied) != 0) {
      const uint32_t bytes = *word & 0xFFFF;
      if (bytes > 4 * (words_.size() - next_)) return Missing();
      text.assign(reinterpret_cast<const char*>(words_.data() + next_), bytes);
      next_ += (bytes + 3) / 4;
      if ((*word & abi::kPrintCut) != 0) text += "...";
    } else if (*word == 0) {
      text = "(null)";
    } else {
      const std::optional<std::string_view> constant = Constant(*word);
      text = constant.has_value() ? *constant : fmt::format("(a string at {:#x})", *word);
    }
    if (conversion.has_precision && text.size() > conversion.precision) {
      text.resize(conversion.precision);
    }
    Pad(conversion, text);
  }

  const KernelImage& image_;
  const uint32_t address_;
  const std::span<const uint32_t> words_;
  size_t next_ = 0;
  std::string text_;
};

}  // namespace

std::string PrintText(const KernelImage& image, uint32_t address, std::span<const uint32_t> words) {
  return PrintFormatter(image, address, words).Run();
}

}  // namespace ttfd
