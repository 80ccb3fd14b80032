// Empties the rings of the workers.
#include "runtime/card/print_rings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/abi/l1_map.h"
#include "runtime/command/print_text.h"

namespace ttfd {
namespace {

// Between two looks at the rings: a look costs a PCIe read for each tile that may print, so it takes no more than a
// fifth of the device thread's time.
constexpr Duration kShortestPause = std::chrono::milliseconds(1);
constexpr int kPauseForALook = 4;

constexpr uint32_t kWordBytes = sizeof(uint32_t);

// The harts of `worker` that run a printing kernel of the program, or none of its are there.
const KernelPlace* PlaceOf(const Program& program, uint32_t worker, uint32_t hart) {
  const auto found = std::lower_bound(program.workers.begin(), program.workers.end(), worker);
  if (found == program.workers.end() || *found != worker) return nullptr;
  const KernelPlace& place =
      program.places[static_cast<size_t>(found - program.workers.begin())][hart];
  return place.kernel == kNoKernel ? nullptr : &place;
}

// The kernel of the hart whose image has the format string: the started one, or a callable one that it called.
uint32_t PrintingKernel(const PrintRings::Launch& launch, const KernelPlace& place, uint32_t hart,
                        uint32_t format_address) {
  const Program& program = *launch.program;
  const auto contains = [&](const ProgramKernel& kernel) {
    return format_address - launch.image_addresses[kernel.image] <
           program.images[kernel.image].image->bytes.size();
  };
  const auto started = static_cast<uint32_t>(place.kernel);
  if (contains(program.kernels[started])) return started;
  for (uint32_t i = 0; i < program.kernels.size(); ++i) {
    const ProgramKernel& kernel = program.kernels[i];
    if (kernel.callable && kernel.hart == hart && contains(kernel)) return i;
  }
  return started;
}

}  // namespace

PrintRings::PrintRings(Device& device, Clock& clock, const CardGeometry& card)
    : device_(device), clock_(clock), card_(card) {
  windows_.resize(card.worker_count());
  read_.resize(card.worker_count());
}

void PrintRings::Restart() {
  runs_.clear();
  prints_.clear();
  for (Positions& positions : read_) positions.fill(0);
}

uint32_t PrintRings::NextTag(size_t launches) const {
  const bool wraps = next_tag_ + static_cast<uint32_t>(launches) < next_tag_;
  return wraps ? 1 : next_tag_;  // none is 0
}

void PrintRings::Expect(const Ticket& ticket, uint32_t tag, std::vector<Launch> launches) {
  if (tag == 0) return;
  next_tag_ = tag + static_cast<uint32_t>(launches.size());
  TileSet tiles;
  for (const Launch& launch : launches) tiles |= launch.program->printing;
  runs_.push_back({ticket, tag, std::move(launches), tiles});
}

void PrintRings::TakePrints(std::vector<CardOutput::Print>* prints) {
  std::move(prints_.begin(), prints_.end(), std::back_inserter(*prints));
  prints_.clear();
}

StatusOr<bool> PrintRings::Drain() {
  TileSet tiles;
  for (const Run& run : runs_) tiles |= run.tiles;
  bool any = false;
  for (uint32_t worker = 0; worker < read_.size(); ++worker) {
    if (!tiles.test(worker)) continue;
    ASSIGN_OR_RETURN(const bool some, DrainTile(worker));
    any |= some;
  }
  return any;
}

StatusOr<bool> PrintRings::DrainIfDue() {
  const TimePoint begin = clock_.Now();
  if (begin < due_) return false;
  ASSIGN_OR_RETURN(const bool any, Drain());
  const TimePoint end = clock_.Now();
  due_ = end + std::max<Duration>(kShortestPause, (end - begin) * kPauseForALook);
  return any;
}

Status PrintRings::Ended(const std::function<bool(const Ticket&)>& is_done) {
  const auto ended = [&is_done](const Run& run) { return is_done(run.ticket); };
  if (std::none_of(runs_.begin(), runs_.end(), ended)) return OkStatus();
  RETURN_IF_ERROR(Drain().status());
  std::erase_if(runs_, ended);
  return OkStatus();
}

StatusOr<bool> PrintRings::DrainTile(uint32_t worker) {
  std::unique_ptr<Window>& window = windows_[worker];
  if (window == nullptr) {
    ASSIGN_OR_RETURN(window, device_.OpenWindow(UnicastTarget(card_.WorkerTile(worker))));
  }
  std::array<abi::PrintPosition, hw::kHarts> positions;
  RETURN_IF_ERROR(window->Read(abi::kPrintPositionAddress, MutableBytesOf(positions)));
  bool any = false;
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    if (positions[hart].written == read_[worker][hart]) continue;
    any = true;
    RETURN_IF_ERROR(DrainHart(worker, hart, positions[hart].written));
  }
  return any;
}

Status PrintRings::DrainHart(uint32_t worker, uint32_t hart, uint32_t written) {
  Window& window = *windows_[worker];
  uint32_t& read = read_[worker][hart];
  const uint32_t bytes = written - read;
  bool whole = bytes <= abi::kPrintRingBytes && bytes % kWordBytes == 0;
  if (whole) {
    ready_.resize(bytes / kWordBytes);
    const MutableByteSpan to = std::as_writable_bytes(std::span(ready_));
    const uint32_t from = read % abi::kPrintRingBytes;
    const uint32_t first = std::min(bytes, abi::kPrintRingBytes - from);
    RETURN_IF_ERROR(window.Read(abi::PrintRingAddress(hart) + from, to.first(first)));
    if (first < bytes) {
      RETURN_IF_ERROR(window.Read(abi::PrintRingAddress(hart), to.subspan(first)));
    }
  }
  // The hart may go on before what it printed is told.
  read = written;
  Status told = WriteWord(
      window, abi::PrintPositionAddress(hart) + offsetof(abi::PrintPosition, read), written);
  std::span<const uint32_t> words =
      whole ? std::span<const uint32_t>(ready_) : std::span<const uint32_t>();
  while (!words.empty()) {
    const uint32_t count = words[0] & 0xFFFF;
    whole = words[0] == abi::PrintHeader(count) && count >= abi::kPrintHeaderWords &&
            count <= abi::kMaxPrintWords && count <= words.size();
    if (!whole) break;
    Deliver(worker, hart, words.first(count));
    words = words.subspan(count);
  }
  if (!whole) DeliverBroken(worker, hart);
  return told;  // a card that has faulted can be read and not written: what was read is told all the same
}

// A record with a tag that is nobody's, or of a launch that does not run there, was not written by <ttfd/print.h>.
void PrintRings::Deliver(uint32_t worker, uint32_t hart, std::span<const uint32_t> record) {
  const uint32_t tag = record[1];
  for (const Run& run : runs_) {
    const uint32_t index = tag - run.first_tag;
    if (index >= run.launches.size()) continue;
    const Launch& launch = run.launches[index];
    const KernelPlace* const place = PlaceOf(*launch.program, worker, hart);
    if (place == nullptr) return;
    const uint32_t kernel = PrintingKernel(launch, *place, hart, record[2]);
    const uint32_t image = launch.program->kernels[kernel].image;
    Say(run, index, worker, {hart, kernel},
        PrintText(*launch.program->images[image].image, launch.image_addresses[image],
                  record.subspan(2)));
    return;
  }
}

void PrintRings::DeliverBroken(uint32_t worker, uint32_t hart) {
  for (const Run& run : runs_) {
    for (uint32_t i = 0; i < run.launches.size(); ++i) {
      const KernelPlace* const place = PlaceOf(*run.launches[i].program, worker, hart);
      if (place == nullptr) continue;
      Say(run, i, worker, {hart, static_cast<uint32_t>(place->kernel)},
          "(prints are lost: the ring of this hart was written over)");
      return;
    }
  }
}

void PrintRings::Say(const Run& run, uint32_t launch, uint32_t worker, Printer printer,
                     std::string text) {
  if (prints_.size() == kMostPrints) return;
  const Program& program = *run.launches[launch].program;
  KernelPrint print;
  print.launch = run.launches[launch].number;
  print.kernel = printer.kernel;
  print.kernel_name = program.images[program.kernels[printer.kernel].image].image->name;
  print.x = worker % card_.grid().x;
  print.y = worker / card_.grid().x;
  print.hart = static_cast<hw::Hart>(printer.hart);
  print.text = std::move(text);
  prints_.push_back({run.ticket, std::move(print)});
}

}  // namespace ttfd
