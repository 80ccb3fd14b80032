// Walks along the links of chips with ports, and one step further.
#include "runtime/fabric/discovery.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "runtime/device/link_status.h"
#include "runtime/fabric/remote_device.h"

namespace ttfd {
namespace {

ChipId IdOf(const LinkPeer& peer) { return {peer.board, peer.asic}; }

class Search {
 public:
  Search(std::span<const std::shared_ptr<Device>> devices, std::span<const ChipId> allowed,
         Clock& clock)
      : devices_(devices), allowed_(allowed), clock_(clock) {
    for (const auto& device : devices) known_.push_back(device->info().id);
  }

  RemoteChips Run() {
    for (uint32_t i = 0; i < devices_.size(); ++i) LookBehind(i);
    for (const RemoteChips::Chip& chip : found_.chips) {
      for (const LinkStatus& link : ReadLinks(*chip.device)) {
        if (link.peer && IsNew(IdOf(*link.peer))) {
          LeaveOut(IdOf(*link.peer), "none of its neighbours has a PCIe port");
        }
      }
    }
    return std::move(found_);
  }

 private:
  bool IsNew(const ChipId& id) const {
    return std::find(known_.begin(), known_.end(), id) == known_.end();
  }
  void LeaveOut(const ChipId& id, std::string_view why) {
    known_.push_back(id);
    found_.left_out.push_back(fmt::format("chip {}: {}", ToString(id), why));
  }

  void LookBehind(uint32_t index) {
    const std::shared_ptr<Device>& front = devices_[index];
    for (const LinkStatus& link : ReadLinks(*front)) {
      if (!link.peer) continue;
      const ChipId id = IdOf(*link.peer);
      if (!IsNew(id)) continue;
      if (id.board == 0 || id.asic == 0) {
        LeaveOut(id, "the link firmware of its neighbour does not name it");
        continue;
      }
      const bool may = !front->info().runs_by_itself ||
                       std::find(allowed_.begin(), allowed_.end(), id) != allowed_.end();
      if (!may) {
        LeaveOut(id, "ttfd.toml does not name it in device.remote_chips");
        continue;
      }
      const std::string place = fmt::format("{}.{}, to channel {} of chip {}", index, link.channel,
                                            link.peer->channel, ToString(id));
      auto opened = RemoteDevice::Open(front, link, place, clock_);
      if (!opened.ok()) {
        LeaveOut(id, StatusMessage(opened.status()));
      } else if ((*opened)->info().id != id) {
        LeaveOut(id, fmt::format("its telemetry names it {}", ToString((*opened)->info().id)));
      } else {
        known_.push_back(id);
        found_.chips.push_back({*std::move(opened), index});
      }
    }
  }

  const std::span<const std::shared_ptr<Device>> devices_;
  const std::span<const ChipId> allowed_;
  Clock& clock_;
  std::vector<ChipId> known_;
  RemoteChips found_;
};

}  // namespace

StatusOr<ChipId> ParseChipId(std::string_view text) {
  ChipId id;
  const std::pair<absl::string_view, absl::string_view> ids =
      absl::StrSplit(absl::string_view(text.data(), text.size()), absl::MaxSplits(':', 1));
  if (absl::SimpleHexAtoi(ids.first, &id.board) && absl::SimpleHexAtoi(ids.second, &id.asic) &&
      id.board != 0 && id.asic != 0) {
    return id;
  }
  return InvalidArgument(
      "\"{}\" names no chip: the hexadecimal ids of a board and an ASIC, as in "
      "\"0x40000000002:0x2\"",
      text);
}

std::string ToString(const ChipId& id) { return fmt::format("{:#x}:{:#x}", id.board, id.asic); }

RemoteChips FindRemoteChips(std::span<const std::shared_ptr<Device>> devices,
                            std::span<const ChipId> allowed, Clock& clock) {
  return Search(devices, allowed, clock).Run();
}

}  // namespace ttfd
