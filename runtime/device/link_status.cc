// Words of the link firmware, as values.
#include "runtime/device/link_status.h"

#include "runtime/hw/ethernet.h"

namespace ttfd {
namespace {

LinkState StateOf(uint32_t port) {
  switch (port) {
    case hw::kEthPortUp:
      return LinkState::kUp;
    case hw::kEthPortDown:
      return LinkState::kDown;
    case hw::kEthPortUnused:
      return LinkState::kUnused;
    default:
      return LinkState::kUnknown;
  }
}

StatusOr<LinkPeer> ReadPeer(Window& tile) {
  const auto word = [&](uint32_t offset) { return ReadWord(tile, hw::kEthRemoteInfo + offset); };
  ASSIGN_OR_RETURN(const uint32_t place, word(hw::kEthInfoPlace));
  ASSIGN_OR_RETURN(const uint32_t board_high, word(hw::kEthInfoBoardHigh));
  ASSIGN_OR_RETURN(const uint32_t board_low, word(hw::kEthInfoBoardLow));
  ASSIGN_OR_RETURN(const uint32_t asic_high, word(hw::kEthInfoAsicHigh));
  ASSIGN_OR_RETURN(const uint32_t asic_low, word(hw::kEthInfoAsicLow));
  return LinkPeer{uint64_t{board_high} << 32 | board_low, uint64_t{asic_high} << 32 | asic_low,
                  place >> 16 & 0xFF, place >> 24, place >> 8 & 0xFF};
}

// Fills all of `link` but its channel.
Status ReadLink(Device& device, hw::Coordinate at, LinkStatus* link) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Window> tile, device.OpenWindow(UnicastTarget(at)));
  ASSIGN_OR_RETURN(const uint32_t port, ReadWord(*tile, hw::kEthPortStatus));
  ASSIGN_OR_RETURN(link->retrains, ReadWord(*tile, hw::kEthRetrains));
  ASSIGN_OR_RETURN(const uint32_t version, ReadWord(*tile, hw::kEthFirmwareVersion));
  link->firmware =
      fmt::format("{}.{}.{}", version >> 16 & 0xFF, version >> 8 & 0xFF, version & 0xFF);
  if (StateOf(port) == LinkState::kUp) {
    ASSIGN_OR_RETURN(link->peer, ReadPeer(*tile));
  }
  link->state = StateOf(port);
  return OkStatus();
}

}  // namespace

std::vector<LinkStatus> ReadLinks(Device& device) {
  std::vector<LinkStatus> links;
  for (const uint32_t channel : device.info().ethernet_channels) {
    const auto rank = static_cast<uint32_t>(links.size());
    LinkStatus& link = links.emplace_back();
    // A tile that does not answer has an unknown state: the card is lost, which others report.
    (void)ReadLink(device, {hw::kEthTranslatedX + rank, hw::kEthTranslatedY}, &link);
    link.channel = channel;
  }
  return links;
}

}  // namespace ttfd
