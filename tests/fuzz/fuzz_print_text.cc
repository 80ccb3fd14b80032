// Fuzz target: any bytes as a kernel's image and any words as what a hart wrote into its ring give a text of bounded
// length.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/abi/kernel_image.h"
#include "runtime/abi/print_ring.h"
#include "runtime/command/print_text.h"

// The first bytes are the words, of which the first says where the format is; the rest is the image.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint32_t kAddress = 0x10000;
  constexpr size_t kWords = 16;
  constexpr size_t kWordBytes = kWords * sizeof(uint32_t);
  if (size < kWordBytes + 1) return 0;
  std::vector<uint32_t> words(1 + data[0] % kWords);
  std::memcpy(words.data(), data + 1, (words.size() - 1) * sizeof(uint32_t));
  ttfd::abi::KernelImageHeader header{};
  const size_t constants = size - kWordBytes;
  header.data_offset = static_cast<uint32_t>(sizeof(header) + constants);
  ttfd::KernelImage image;
  image.bytes.resize(sizeof(header) + constants);
  std::memcpy(image.bytes.data(), &header, sizeof(header));
  std::memcpy(image.bytes.data() + sizeof(header), data + kWordBytes, constants);
  const auto first = static_cast<uint32_t>(kAddress + sizeof(header));
  for (const uint32_t format : {first, words[0], first + words[0] % 64}) {
    words[0] = format;
    const std::string text = ttfd::PrintText(image, kAddress, words);
    if (text.size() > ttfd::kMaxPrintTextBytes + 3) std::abort();
  }
  return 0;
}
