// Parts of mesh buffers in pages: sizes, and the padding behind each part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ttfd/mesh/mesh.h"

namespace ttfd::mesh {

// At least one part of one byte, and less than 2^48 bytes on a chip.
Status CheckSize(uint64_t part_bytes, uint32_t parts, const char* name);

// Whether the buffers of a mesh of `chips` hold the parts, in equal pages.
Status CheckBuffer(const MeshBuffer& buffer, size_t chips, const char* name);

// Bytes of the pages of a part: at most a segment, and so that the last page is nearly full.
uint32_t PageBytesFor(uint64_t part_bytes);

// Copies all parts of a chip, size_bytes(), to or from its buffer, and waits for it. REQUIRES pages of PageBytesFor, or
// parts that fill theirs.
Status WriteParts(client::Queue queue, const MeshBuffer& buffer, uint32_t chip,
                  std::span<const std::byte> bytes);
Status ReadParts(client::Queue queue, const MeshBuffer& buffer, uint32_t chip,
                 std::span<std::byte> into);

}  // namespace ttfd::mesh
