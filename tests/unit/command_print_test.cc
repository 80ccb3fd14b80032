// Prints of kernels become the text that printf would make, whatever a kernel writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "runtime/abi/kernel_image.h"
#include "runtime/abi/print_ring.h"
#include "runtime/command/print_text.h"
#include "tests/support/random.h"

namespace ttfd::command_print_test {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kAddress = 0x12340;
constexpr uint32_t kText = kAddress + sizeof(abi::KernelImageHeader);

// An image whose read-only part is `constants`, behind which `data` follows.
KernelImage ImageOf(const std::string& constants, const std::string& data = "") {
  abi::KernelImageHeader header{};
  header.data_offset = static_cast<uint32_t>(sizeof(header) + constants.size());
  KernelImage image;
  image.bytes.resize(header.data_offset + data.size());
  std::memcpy(image.bytes.data(), &header, sizeof(header));
  std::memcpy(image.bytes.data() + sizeof(header), constants.data(), constants.size());
  std::memcpy(image.bytes.data() + header.data_offset, data.data(), data.size());
  return image;
}

std::string Print(const std::string& format, std::vector<uint32_t> arguments = {}) {
  arguments.insert(arguments.begin(), kText);
  return PrintText(ImageOf(format + '\0'), kAddress, arguments);
}

template <typename... Values>
std::string Printf(const std::string& format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof(text), format.c_str(), values...);
  return text;
}

// One conversion with whatever may stand before its letter, as two formats: length modifiers differ between the
// machines.
struct Conversion {
  std::string here, there;
  std::vector<uint32_t> stars;
};

Conversion RandomConversion(Random& random, const std::string& letter, bool number) {
  Conversion conversion;
  std::string& text = conversion.there;
  text = "<%";
  const bool minus = random() % 3 == 0;
  if (minus) text += "-";
  if (number && random() % 3 == 0) text += "0";
  if (number && letter == "d" && random() % 3 == 0) text += random() % 2 == 0 ? "+" : " ";
  if (number && letter != "d" && letter != "u" && random() % 3 == 0) text += "#";
  switch (random() % 3) {
    case 0:
      text += std::to_string(1 + random() % 25);
      break;
    case 1:
      text += "*";
      conversion.stars.push_back(random() % 25 - 10);
      break;
    default:
      break;
  }
  if (letter != "c") {
    switch (random() % 4) {
      case 0:
        text += "." + std::to_string(random() % 15);
        break;
      case 1:
        text += ".*";
        conversion.stars.push_back(random() % 15 - 3);
        break;
      case 2:
        text += ".";
        break;
      default:
        break;
    }
  }
  conversion.here = text;
  return conversion;
}

template <typename Value>
std::string Here(const Conversion& conversion, Value value) {
  const auto star = [&](size_t i) { return static_cast<int>(conversion.stars[i]); };
  switch (conversion.stars.size()) {
    case 0:
      return Printf(conversion.here, value);
    case 1:
      return Printf(conversion.here, star(0), value);
    default:
      return Printf(conversion.here, star(0), star(1), value);
  }
}

TEST(PrintText, IsWhatPrintfWrites) {
  Random random(1);
  for (int round = 0; round < 20'000; ++round) {
    static const std::string kLetters[] = {"d", "u", "x", "X", "o", "c", "s"};
    const std::string letter = kLetters[random() % 7];
    const bool number = letter != "c" && letter != "s";
    Conversion conversion = RandomConversion(random, letter, number);
    std::vector<uint32_t> words = conversion.stars;
    const uint32_t low = random() % 4 == 0 ? random() % 3 : random();
    const uint32_t high = random() % 2 == 0 ? 0 : random();
    const std::string lengths[] = {"", "l", "h", "hh", "ll", "j", "z"};
    const std::string length = number ? lengths[random() % 7] : "";
    const bool wide = length == "ll" || length == "j";
    conversion.there += length + letter + ">";
    // Long and size_t have 32 bits there.
    conversion.here += (length == "l" || length == "z" ? "" : length) + letter + ">";
    std::string expected;
    if (letter == "s") {
      const std::string text(random() % 20, 'a');
      const auto bytes = static_cast<uint32_t>(text.size());
      words.push_back(abi::kPrintCopied | bytes);
      words.insert(words.end(), (bytes + 3) / 4, 0x61616161);
      expected = Here(conversion, text.c_str());
    } else if (wide) {
      words.insert(words.end(), {low, high});
      expected = Here(conversion, static_cast<long long>(uint64_t{high} << 32 | low));
    } else {
      words.push_back(letter == "c" ? 'a' + low % 26 : low);
      expected = Here(conversion, static_cast<int>(words.back()));
    }
    ASSERT_EQ(Print(conversion.there, words), expected) << conversion.there;
  }
}

TEST(PrintText, PointersPercentsAndConstants) {
  EXPECT_EQ(Print("100%% %p|%10p|%-10p|", {0xB0000, 0, 0x10}),
            "100% 0xb0000|       0x0|0x10      |");
  const std::string constants = std::string("%s/%s\0one\0two", 13) + '\0';
  EXPECT_EQ(
      PrintText(ImageOf(constants), kAddress, std::vector<uint32_t>{kText, kText + 6, kText + 10}),
      "one/two");
  EXPECT_EQ(Print("%s", {0}), "(null)");
  EXPECT_EQ(Print("%s|", {abi::kPrintCopied | abi::kPrintCut | 4, 0x64636261}), "abcd...|");
  EXPECT_EQ(Print("line\n"), "line");
  EXPECT_EQ(Print("\n\n"), "\n");
}

TEST(PrintText, NothingIsReadThatAKernelOnlySaysIsThere) {
  EXPECT_EQ(Print("%u %u", {1}), "1 (missing)");
  EXPECT_EQ(Print("%llu", {1}), "(missing)");
  EXPECT_EQ(Print("%*u", {}), "(missing)");
  EXPECT_EQ(Print("%s", {abi::kPrintCopied | 9, 0x61616161, 0x61616161}), "(missing)");
  EXPECT_EQ(Print("%s", {abi::kPrintCopied | 0x3FFFFFFF}), "(missing)");
  EXPECT_EQ(Print("%s", {0x1FFFF0}), "(a string at 0x1ffff0)");
  EXPECT_EQ(Print("%s", {kAddress + 0x8000}), "(a string at 0x1a340)");
  EXPECT_THAT(PrintText(ImageOf("x"), kAddress, std::vector<uint32_t>{kText}),
              HasSubstr("outside"));
  EXPECT_THAT(PrintText(ImageOf("x"), kAddress, std::vector<uint32_t>{kAddress - 1}),
              HasSubstr("outside"));
  EXPECT_THAT(PrintText(ImageOf("", std::string("x", 2)), kAddress, std::vector<uint32_t>{kText}),
              HasSubstr("outside"))
      << "what a kernel can change is no format";
  EXPECT_THAT(PrintText(ImageOf("x"), kAddress, {}), HasSubstr("outside"));
}

TEST(PrintText, WhatNoKernelShouldHoldIsShownAsItIs) {
  EXPECT_EQ(Print("%n %f %w", {1, 2, 3}), "%n %f %w");
  EXPECT_EQ(Print("%", {}), "%");
  EXPECT_EQ(Print("%-*.", {}), "%-*.");
  EXPECT_EQ(Print("%99999999999999999999999d", {1}).size(), kMaxPrintTextBytes + 3);
  EXPECT_EQ(Print("%*d", {0x80000000, 1}).size(), kMaxPrintTextBytes + 3);
  EXPECT_EQ(Print(std::string(5000, 'x')), std::string(kMaxPrintTextBytes, 'x') + "...");
  EXPECT_EQ(Print(std::string(kMaxPrintTextBytes, 'x')), std::string(kMaxPrintTextBytes, 'x'));
}

}  // namespace
}  // namespace ttfd::command_print_test
