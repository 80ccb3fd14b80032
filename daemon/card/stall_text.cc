// Describes a card that hung or faulted.
#include "daemon/card/stall_text.h"

#include <algorithm>

#include "daemon/session/session.h"
#include "runtime/abi/hart_status.h"

namespace ttfd {
namespace {

// In an error's message; the hang report and GetStatus show all.
constexpr size_t kNamed = 4;

// Rank of a hart, the lowest first: a reader looks for harts whose code is a client's.
int Interest(const HartReport& hart) {
  if (hart.faulted) return 0;
  if (hart.code.image == CodePlace::Image::kKernel) return 1;
  return hart.worker != HartReport::kNoWorker ? 2 : 3;
}

// For firmware the innermost call and the function are enough.
std::string Brief(CodePlace code) {
  std::vector<SymbolFrame>& frames = code.symbol.frames;
  if (code.image == CodePlace::Image::kFirmware && frames.size() > 2) {
    frames.erase(frames.begin() + 1, frames.end() - 1);
  }
  return ToString(code);
}

// "runs a kernel, program 1 (waypoint KRUN, pc 0x100f8 kernel_main+0x20 at spin.cc:9 in kernel 'spin')"
std::string Stand(const HartReport& hart) {
  std::string text = hart.text;
  if (hart.pc == 0 && !hart.faulted) return text;
  text += fmt::format(" (waypoint {}, pc {:#x}", hart.waypoint, hart.pc);
  if (const std::string code = Brief(hart.code); !code.empty()) text += " " + code;
  if (const std::string caller = Brief(hart.caller); !caller.empty()) {
    text += ", with ra behind " + caller;
  }
  return text + ")";
}

// Describes the first of those with the same text, most often the workers of one launch.
struct Alike {
  std::string said;
  std::string text;
  size_t others = 0;
};

void Add(std::string said, std::string text, std::vector<Alike>* groups) {
  const auto found = std::find_if(groups->begin(), groups->end(),
                                  [&said](const Alike& group) { return group.said == said; });
  if (found == groups->end()) {
    groups->push_back({std::move(said), std::move(text)});
  } else {
    ++found->others;
  }
}

void Append(const std::vector<Alike>& groups, std::string* text) {
  for (size_t i = 0; i < std::min(groups.size(), kNamed); ++i) {
    *text += fmt::format("{}{}", text->empty() ? "" : "\n", groups[i].text);
    if (groups[i].others != 0) *text += fmt::format(", like {} more", groups[i].others);
  }
  if (groups.size() > kNamed) *text += fmt::format("\nand {} more", groups.size() - kNamed);
}

// "; ended last: program 4 of session 2, before it ...".
std::string LastText(const std::vector<HangSlice>& recent) {
  std::string text;
  for (size_t i = 0; i < std::min(recent.size(), kNamed); ++i) {
    text += fmt::format("{}program {} of session {}", i == 0 ? "; ended last: " : ", before it ",
                        fmt::join(recent[i].programs, ", "), recent[i].client.session);
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
  std::vector<Alike> stands, damaged;
  for (const HartReport* hart : harts) {
    const std::string stand = Stand(*hart);
    Add(stand, fmt::format("{}: {}", hart->where, stand), &stands);
  }
  for (const FirmwareDamage& damage : stall.damage) {
    Add(fmt::format("{} {}", damage.what, damage.address), ToString(damage), &damaged);
  }
  std::string text;
  Append(stands, &text);
  Append(damaged, &text);
  return text;
}

std::string PlacesFor(const HangReport& report) {
  const HangSlice* const offending = report.offending();
  if (offending == nullptr) return report.places;
  const auto own = [&](uint32_t program) {
    return std::any_of(report.slices.begin(), report.slices.end(), [&](const HangSlice& slice) {
      return slice.client.session == offending->client.session &&
             std::find(slice.programs.begin(), slice.programs.end(), program) !=
                 slice.programs.end();
    });
  };
  StallReport stall = report.stall;
  for (HartReport& hart : stall.harts) {
    if (own(hart.program)) continue;
    for (CodePlace* const place : {&hart.code, &hart.caller}) {
      if (place->image != CodePlace::Image::kKernel) continue;
      *place = {CodePlace::Image::kOtherKernel, "", place->offset, place->beyond, {}};
    }
  }
  return StallPlaces(stall, report.summary);
}

std::string RunnerText(const Slice& slice) {
  std::string programs;
  for (size_t i = 0; i < std::min(slice.programs->size(), kNamed); ++i) {
    programs += fmt::format("{}{}", i == 0 ? "" : ", ", (*slice.programs)[i]);
  }
  const bool more = slice.programs->size() > kNamed;
  return fmt::format("program{} {}{} of {}", slice.programs->size() > 1 ? "s" : "", programs,
                     more ? ", ..." : "", slice.share().owner->client().Text());
}

std::string StallDetails(const HangReport& report, const Slice* offender) {
  std::string text = report.summary;
  if (offender != nullptr) text += "; it ran " + RunnerText(*offender);
  if (offender == nullptr && !report.stall.damage.empty()) text += LastText(report.recent);
  return report.places.empty() ? text : text + "\n" + PlacesFor(report);
}

std::string OnOneLine(std::string_view text) {
  std::string line(text.substr(0, text.find('\n')));
  while (text.find('\n') != text.npos) {
    text.remove_prefix(text.find('\n') + 1);
    line.append("; ").append(text.substr(0, text.find('\n')));
  }
  return line;
}

void DescribeStall(const Status& why, HangReport* report) {
  report->summary = StallSummary(why, report->stall);
  report->places = StallPlaces(report->stall, report->summary);
  const bool hang =
      why.code() == StatusCode::kDeadlineExceeded && FaultedHart(report->stall) == nullptr;
  report->reason = hang ? "HANG" : "DEVICE_FAULT";
}

void DescribeRecovery(const Status& recovered, HangReport* report) {
  report->recovered = recovered.ok();
  report->recovery = recovered.ok() ? "the card was reset and works again"
                                    : fmt::format("the card is lost: {}", StatusMessage(recovered));
}

}  // namespace ttfd
