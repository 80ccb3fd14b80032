// The rules of command.h, checked.
#include "runtime/command/command_check.h"

#include "runtime/command/launch_config.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

Status CheckRegion(const Region& region, const CardGeometry& card) {
  const uint32_t banks = card.Banks(region.kind);
  if (region.single_bank >= 0 && static_cast<uint32_t>(region.single_bank) >= banks) {
    return InvalidArgument("bank {}; there are {}", region.single_bank, banks);
  }
  if (region.page_bytes == 0 || region.page_bytes % hw::kDramAlignment != 0 ||
      region.base_address % hw::kDramAlignment != 0) {
    return InvalidArgument("a region at {:#x} in pages of {} bytes; both must be multiples of {}",
                           region.base_address, region.page_bytes, hw::kDramAlignment);
  }
  return OkStatus();
}

Status CheckRange(const Region& region, uint64_t offset, uint64_t size, uint32_t alignment,
                  const CardGeometry& card) {
  RETURN_IF_ERROR(CheckRegion(region, card));
  if (size == 0 || size > kMaxTransferBytes) {
    return InvalidArgument("a transfer of {} bytes; 1 to {} are allowed", size, kMaxTransferBytes);
  }
  if (offset % alignment != 0 || size % alignment != 0) {
    return InvalidArgument("offset {} and size {} must be multiples of {}", offset, size,
                           alignment);
  }
  if (offset > region.size_bytes || size > region.size_bytes - offset) {
    return InvalidArgument("bytes {} to {} of a region of {}", offset, offset + size,
                           region.size_bytes);
  }
  return OkStatus();
}

}  // namespace

Status CheckCommand(const Command& command, const CardGeometry& card) {
  if (const auto* write = std::get_if<WriteCommand>(&command)) {
    return CheckRange(write->region, write->offset, write->data.size(), hw::kL1Alignment, card);
  }
  if (const auto* fill = std::get_if<FillCommand>(&command)) {
    return CheckRange(fill->region, fill->offset, fill->size, hw::kL1Alignment, card);
  }
  if (const auto* read = std::get_if<ReadCommand>(&command)) {
    if (!read->sink) return InvalidArgument("a read without a place for its data");
    return CheckRange(read->region, read->offset, read->size, 1, card);
  }
  if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    RETURN_IF_ERROR(
        CheckRange(copy->from, copy->from_offset, copy->size, hw::kDramAlignment, card));
    return CheckRange(copy->to, copy->to_offset, copy->size, hw::kDramAlignment, card);
  }
  if (!std::holds_alternative<LaunchCommand>(command)) return InvalidArgument("no traces yet");
  const auto& launch = std::get<LaunchCommand>(command);
  if (launch.program == nullptr) return InvalidArgument("a launch without a program");
  if (launch.program->grid.x != card.grid().x || launch.program->grid.y != card.grid().y) {
    return InvalidArgument("the program was built for a grid of {}x{}; the card has {}x{}",
                           launch.program->grid.x, launch.program->grid.y, card.grid().x,
                           card.grid().y);
  }
  return CheckArguments(*launch.program, launch.arguments);
}

}  // namespace ttfd
