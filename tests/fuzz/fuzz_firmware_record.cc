// Fuzz target: any bytes as an entry, or as an exec buffer, for the real firmware on the device model. However
// malformed the commands are, the card comes to rest, with a fault record that names the command if a hart gave
// up; the model, which refuses every wrong access, never faults.
//
// Where data goes and how much is the encoder's duty and not the firmware's: tame_record.h points every
// destination, and every source, to places that exist.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tests/fuzz/tame_record.h"
#include "tests/support/firmware_bench.h"

namespace {

using ttfd::testing::FirmwareBench;

[[noreturn]] void Fail(const char* what, const ttfd::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  std::abort();
}

std::unique_ptr<FirmwareBench> Boot() {
  auto bench = FirmwareBench::Create(ttfd::testing::TinyRings());
  if (!bench.ok()) Fail("create", bench.status());
  const ttfd::Status booted = (*bench)->Boot();
  if (!booted.ok()) Fail("boot", booted);
  return *std::move(bench);
}

// A fault names a command that can be and a place within the entry, buffer or ring.
void CheckFault(const ttfd::abi::HartStatus& status, uint32_t bytes) {
  if (status.state != ttfd::abi::kHartFaulted) return;
  if (status.fault_code < ttfd::abi::kFaultUnknownCommand || status.fault_detail[0] > 0xFF ||
      status.fault_offset > bytes) {
    Fail("fault record", ttfd::Internal("code {}, command {}, offset {} of {}", status.fault_code,
                                        status.fault_detail[0], status.fault_offset, bytes));
  }
}

// At rest as after boot: the next input finds nothing of this one.
bool IsFresh(FirmwareBench& bench) {
  using ttfd::abi::ControlBlock;
  const auto status = [&](ttfd::hw::Coordinate tile, uint32_t hart, uint32_t waypoint) {
    const ttfd::abi::HartStatus report = bench.status(tile, hart);
    return report.state == ttfd::abi::kHartReady && report.waypoint == waypoint;
  };
  const auto prefetch = FirmwareBench::kPrefetchTile, dispatch = FirmwareBench::kDispatchTile;
  return status(prefetch, ttfd::hw::kBrisc, ttfd::abi::kWaypointFetch) &&
         status(dispatch, ttfd::hw::kBrisc, ttfd::abi::kWaypointIdle) &&
         status(dispatch, ttfd::hw::kNcrisc, ttfd::abi::kWaypointIdle);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::unique_ptr<FirmwareBench> bench;
  if (bench == nullptr) bench = Boot();
  const ttfd::testing::TameRecord record =
      ttfd::testing::Tame({reinterpret_cast<const std::byte*>(data), size}, *bench);
  if (record.bytes.empty()) return 0;
  ttfd::testing::EntryBuilder entry;
  if (record.is_buffer) {
    bench->SetDramPages(ttfd::testing::kTameTrace, 1024, 0, record.bytes);
    entry.ExecBuf(ttfd::testing::kTameTrace, 10, static_cast<uint32_t>(record.bytes.size() / 1024));
  } else {
    entry.Raw(record.bytes);
  }
  const ttfd::Status run = bench->SendAndRun(entry, record.is_buffer || record.stall);
  if (!run.ok()) Fail("run", run);
  for (int pages = 0; pages < 8; ++pages) {  // a host that reads what it can
    const auto page = bench->TakeCompletionPage();
    const ttfd::Status more = bench->Run();
    if (!page.ok() || !more.ok()) Fail("completion", more);
  }
  const auto bytes = static_cast<uint32_t>(record.bytes.size());
  const auto& block = bench->block();
  CheckFault(bench->status(FirmwareBench::kPrefetchTile, ttfd::hw::kBrisc), bytes);
  CheckFault(bench->status(FirmwareBench::kDispatchTile, ttfd::hw::kBrisc),
             block.dispatch_ring_pages * ttfd::abi::kDispatchPageBytes);
  CheckFault(bench->status(FirmwareBench::kDispatchTile, ttfd::hw::kNcrisc),
             block.dispatch_s_ring_pages * ttfd::abi::kDispatchSPageBytes);
  if (record.leaves_state || !IsFresh(*bench)) bench.reset();
  return 0;
}
