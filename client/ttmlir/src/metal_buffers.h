// Arrays of the host and buffers of the card, as TTMetal files describe them.
#pragma once

#include <string>

#include "client/ttmlir/src/metal_plan.h"

namespace ttfd::ttmlir {

// The most that a run keeps on the host, elements counted with 4 bytes at least. Converting them takes several times
// as much for a while.
constexpr uint64_t kMaxHostBytes = uint64_t{1} << 30;

// `ref` is a TensorRef of 2024, or a BufferRef. Problems are "" where there is none.
inline uint32_t IdOf(const Record& ref) { return static_cast<uint32_t>(ref.Integer("global_id")); }
// As the host has it, or would have what lies on the card.
std::string ArrayOf(const Record& ref, HostSpec* spec);
std::string BufferOf(const Record& ref, BufferSpec* spec);

// Why the bytes of one are not those of the other.
std::string MismatchOf(const MetalArray& host, uint32_t buffer_id, const BufferSpec& buffer);

}  // namespace ttfd::ttmlir
