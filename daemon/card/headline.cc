// The first line of what people read of a hang or fault.
#include "daemon/card/headline.h"

#include <algorithm>
#include <set>
#include <vector>

#include "daemon/card/stall_text.h"
#include "runtime/base/first_line.h"
#include "runtime/base/utf8.h"

namespace ttfd {
namespace {

constexpr std::string_view kHint = "; ttfdctl hang show ";
constexpr size_t kIdBytes = 4;
constexpr size_t kMostBytes = kFirstLineBytes - kHint.size() - kIdBytes;

bool IsOf(const HartReport& hart, const HangSlice& slice) {
  return std::find(slice.programs.begin(), slice.programs.end(), hart.program) !=
         slice.programs.end();
}

bool IsInKernel(const HartReport& hart) { return hart.code.image == CodePlace::Image::kKernel; }

// The hart of a launch whose state explains most: one that faulted, else one whose kernel has a note, else one in a
// kernel that waits, else one running.
const HartReport* ExplainingHart(const StallReport& stall, const HangSlice& slice) {
  const HartReport* found = nullptr;
  int best = 4;
  for (const HartReport& hart : stall.harts) {
    if (!IsOf(hart, slice)) continue;
    const bool noted = !hart.note.empty() && hart.code.image != CodePlace::Image::kFirmware;
    const int rank = hart.faulted         ? 0
                     : noted              ? 1
                     : !IsInKernel(hart)  ? 4
                     : hart.doing.empty() ? 3
                                          : 2;
    if (rank >= best) continue;
    best = rank;
    found = &hart;
  }
  return found;
}

std::string KernelsOf(const HangSlice& slice) {
  return fmt::format("{}", fmt::join(slice.kernels, ", "));
}

// Says what happened to a launch, by the name of its kernel where it has one.
std::string OfLaunch(const HangSlice& slice, const std::string& kernel, const std::string& what) {
  return kernel.empty() ? CutText(Printable(slice.command + what), kMostBytes)
                        : KernelFirstLine(kernel, what, kMostBytes);
}

std::string CoreText(hw::Coordinate core) { return fmt::format("({},{})", core.x, core.y); }

// "(1,2)", or "16 tiles" on which harts stand in the same kernel.
std::string TilesText(const StallReport& stall, const HangSlice& slice, const HartReport& hart) {
  std::set<int32_t> workers;
  for (const HartReport& other : stall.harts) {
    if (IsOf(other, slice) && IsInKernel(other) && other.code.name == hart.code.name) {
      workers.insert(other.worker);
    }
  }
  return workers.size() > 1 ? fmt::format("{} tiles", workers.size()) : CoreText(hart.core);
}

// " at wait.cc:5". Empty: not known.
std::string LineText(const HartReport& hart) {
  for (const CodePlace* const place : {&hart.code, &hart.caller}) {
    const SymbolFrame* const frame = UserFrame(place->symbol);
    if (frame != nullptr && frame->line != 0)
      return fmt::format(" at {}:{}", frame->file, frame->line);
  }
  return "";
}

std::string Doing(const Status& why, const HangSlice& slice, const HartReport& hart) {
  if (!hart.doing.empty()) return hart.doing;
  if (hart.faulted) return hart.text;
  const bool timed_out = StatusMessage(why).find("kernel timeout") != std::string_view::npos;
  return timed_out ? fmt::format("still running after {} ms", slice.timeout_ms) : "running";
}

std::string OfKernel(const Status& why, const HangReport& report, const HangSlice& slice,
                     const HartReport& hart) {
  const bool fault = hart.faulted;
  // A task says more than the tile that it ran on.
  const std::string where =
      hart.note.empty() ? "on " + TilesText(report.stall, slice, hart) : "in " + hart.note;
  const std::string end = fmt::format(" {} {}{}{}{}", fault ? "faulted" : "hung", where,
                                      LineText(hart), fault ? ": " : ", ", Doing(why, slice, hart));
  return OfLaunch(slice, IsInKernel(hart) ? hart.code.name : KernelsOf(slice), end);
}

// "BRISC firmware of worker (1,2) was overwritten"
std::string Overwritten(const FirmwareDamage& damage) {
  return fmt::format("{} of {} was overwritten", damage.what,
                     damage.where.substr(0, damage.where.find(" tile")));
}

}  // namespace

std::string Headline(const Status& why, const HangReport& report) {
  const std::vector<FirmwareDamage>& damage = report.stall.damage;
  if (const HangSlice* const slice = report.offending()) {
    if (const HartReport* const hart = ExplainingHart(report.stall, *slice)) {
      return OfKernel(why, report, *slice, *hart);
    }
    const std::string_view verb = report.reason == "HANG" ? "hung" : "faulted";
    const std::string end = damage.empty()
                                ? fmt::format(" {}: {}", verb, StatusMessage(why))
                                : fmt::format(" {} where {}", verb, Overwritten(damage[0]));
    return OfLaunch(*slice, KernelsOf(*slice), end);
  }
  return CutText(damage.empty() ? report.summary : Overwritten(damage[0]), kMostBytes);
}

std::string HeadlineForOthers(const HangReport& report) {
  if (report.offending() != nullptr) {
    return "the card was reset under this: another kernel stopped it; send it again";
  }
  if (report.stall.damage.empty())
    return "the card stopped under this, and no kernel is known to be the cause";
  return "firmware or a kernel was overwritten, by a kernel of yours or an earlier one";
}

std::string WithHint(std::string_view headline, const std::string& id) {
  return id.empty() ? std::string(headline) : fmt::format("{}{}{}", headline, kHint, id);
}

}  // namespace ttfd
