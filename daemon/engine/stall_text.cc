// What people are told of a card that hung or faulted.
#include "daemon/engine/stall_text.h"

#include <algorithm>

#include "runtime/abi/hart_status.h"

namespace ttfd {
namespace {

constexpr size_t kNamedHarts = 8;  // in an error's message; GetStatus shows all

// Those whose code is a client's are what a reader looks for.
int Interest(const HartReport& hart) {
  if (hart.faulted) return 0;
  if (hart.code.image == CodePlace::Image::kKernel) return 1;
  return hart.worker != HartReport::kNoWorker ? 2 : 3;
}

std::string Place(const HartReport& hart) {
  std::string text = fmt::format("pc {:#x}", hart.pc);
  if (const std::string code = ToString(hart.code); !code.empty()) text += " " + code;
  if (const std::string caller = ToString(hart.caller); !caller.empty()) {
    text += ", with ra behind " + caller;
  }
  return text;
}

}  // namespace

const HartReport* FaultedHart(const StallReport& stall) {
  for (const HartReport& hart : stall.harts) {
    if (hart.faulted || hart.state == abi::kHartFaulted) return &hart;
  }
  return nullptr;
}

std::string StallSummary(const Status& why, const StallReport& stall) {
  const bool hang = why.code() == StatusCode::kDeadlineExceeded && FaultedHart(stall) == nullptr;
  const std::string_view said = StatusMessage(why);
  std::string text = fmt::format("{}: {}", hang ? "the card hung" : "the card faulted", said);
  if (!stall.text.empty() && text.find(stall.text) == text.npos &&
      (said.empty() || stall.text.find(said) == stall.text.npos)) {
    text += "; " + (stall.stage == StalledStage::kNone ? stall.text : ToString(stall));
  }
  return text;
}

std::string StallPlaces(const StallReport& stall, std::string_view said) {
  std::vector<const HartReport*> harts;
  for (const HartReport& hart : stall.harts) {
    const bool repeats =
        said.find(hart.text) != said.npos || hart.text.find(said) != hart.text.npos;
    const bool idle = hart.text.starts_with("is idle");
    if (hart.faulted || (!hart.text.empty() && !repeats && !idle)) harts.push_back(&hart);
  }
  std::stable_sort(harts.begin(), harts.end(), [](const HartReport* a, const HartReport* b) {
    return Interest(*a) < Interest(*b);
  });
  std::string text;
  for (size_t i = 0; i < std::min(harts.size(), kNamedHarts); ++i) {
    const HartReport& hart = *harts[i];
    text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", hart.where, hart.text);
    if (hart.pc != 0 || hart.faulted) {
      text += fmt::format(" (waypoint {}, {})", hart.waypoint, Place(hart));
    }
  }
  if (harts.size() > kNamedHarts) {
    text += fmt::format("; and {} more harts", harts.size() - kNamedHarts);
  }
  for (const FirmwareDamage& damage : stall.damage) {
    text += fmt::format("{}{}", text.empty() ? "" : "; ", ToString(damage));
  }
  return text;
}

}  // namespace ttfd
