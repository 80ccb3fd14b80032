// Packs configurations of tasks.
#include "client/graph/src/configurations.h"

#include <algorithm>
#include <set>
#include <string>

#include "firmware/graph/layout.h"

namespace ttfd::graph {
namespace {

constexpr uint32_t kCircularBufferBytes = 16;  // of abi::CircularBufferConfig, which is four words
constexpr uint32_t kAlignment = layout::kConfigurationAlignment;

constexpr uint64_t AlignedUp(uint64_t value) {
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

// The words behind layout::Configuration.
class Words {
 public:
  uint16_t bytes() const { return static_cast<uint16_t>(words_.size() * 4); }
  uint16_t count() const { return static_cast<uint16_t>(words_.size()); }
  void Append(uint32_t word) { words_.push_back(word); }
  void Set(uint32_t index, uint32_t word) {
    words_.resize(std::max<size_t>(words_.size(), index + 1));
    words_[index] = word;
  }
  const std::vector<uint32_t>& all() const { return words_; }

 private:
  std::vector<uint32_t> words_;
};

Status CheckCircularBuffers(const ConfigurationOptions& options) {
  constexpr uint64_t kMostBytes = 1536 << 10;  // of a tile's L1
  uint64_t bytes = 0;
  std::set<uint32_t> indices;
  for (const ScratchOptions& one : options.circular_buffers) {
    const std::string what = "a circular buffer of index " + std::to_string(one.index);
    const auto wrong = [&what](const std::string& rule) {
      return Invalid("circular_buffers", what + rule);
    };
    if (one.index > Graph::kMaxScratchIndex) {
      return wrong("; those of functions have indices up to " +
                   std::to_string(Graph::kMaxScratchIndex));
    }
    if (!indices.insert(one.index).second) return wrong(" is there twice");
    if (one.pages == 0 || one.page_bytes == 0 || one.page_bytes % 16 != 0) {
      return wrong(" has " + std::to_string(one.pages) + " pages of " +
                   std::to_string(one.page_bytes) +
                   " bytes; it must have at least one, of a multiple of 16");
    }
    bytes += AlignedUp(uint64_t{one.pages} * one.page_bytes);
    if (bytes > kMostBytes) {
      return wrong(" makes " + std::to_string(bytes) + " bytes of them; a tile has at most " +
                   std::to_string(kMostBytes));
    }
  }
  return {};
}

}  // namespace

Status Configurations::Add(const ConfigurationOptions& options,
                           const std::function<uint32_t(uint64_t)>& index_of) {
  if (Status status = CheckCircularBuffers(options); !status.ok()) return status;
  layout::Configuration header{};
  Words words;
  uint32_t arena = 0;
  for (const ScratchOptions& one : options.circular_buffers) {
    const uint32_t at = one.index * kCircularBufferBytes / 4;
    const uint32_t fields[] = {arena, one.pages, one.page_bytes, static_cast<uint32_t>(one.format)};
    for (uint32_t i = 0; i < std::size(fields); ++i) words.Set(at + i, fields[i]);
    header.circular_buffers =
        std::max(header.circular_buffers, static_cast<uint16_t>(one.index + 1));
    arena += static_cast<uint32_t>(AlignedUp(uint64_t{one.pages} * one.page_bytes));
  }
  std::vector<layout::Patch> patches;
  for (const ConfigurationOptions::Common& one : options.common) {
    layout::Configuration::Words& common = header.common[static_cast<uint32_t>(one.processor) - 1];
    common = {words.bytes(), static_cast<uint16_t>(one.words.size())};
    for (const Argument& word : one.words) {
      if (word.is_buffer()) {
        patches.push_back({words.count(), static_cast<uint16_t>(index_of(word.buffer()))});
      }
      words.Append(word.is_buffer() ? 0 : word.word());
    }
  }
  header.patches = static_cast<uint16_t>(patches.size());
  header.first_patch = words.bytes();
  const size_t bytes =
      sizeof(header) + words.all().size() * 4 + patches.size() * sizeof(patches[0]);
  if (bytes > layout::kBlockBytes) {
    return Invalid("configuration", "a configuration of " + std::to_string(bytes) +
                                        " bytes; at most " + std::to_string(layout::kBlockBytes) +
                                        " are allowed");
  }
  std::byte* to = &*pages_.insert(pages_.end(), layout::kBlockBytes, std::byte{});
  for (const std::span<const std::byte> part :
       {std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(words.all())),
        std::as_bytes(std::span(patches))}) {
    to = std::copy(part.begin(), part.end(), to);
  }
  used_.push_back(static_cast<uint32_t>(AlignedUp(bytes)));
  arena_bytes_ = std::max(arena_bytes_, arena);
  return {};
}

}  // namespace ttfd::graph
