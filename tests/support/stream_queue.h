// One hardware queue's side of a random stream: builds its commands and entries, and keeps the rules a
// host must keep.
//
//   * What the prefetcher reads was written and acknowledged before: else WAIT with barrier and notify,
//     and a STALL.
//   * Unicasts and multicasts to the same memory have a barrier between: they travel on different VCs.
//   * A worker gets its next go when it has answered the last; counters are cleared when all have.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "runtime/command/record_writer.h"
#include "tests/support/firmware_bench.h"
#include "tests/support/random.h"
#include "tests/support/record_stream.h"
#include "tests/support/reference_card.h"

namespace ttfd::testing {

enum class SliceKind { kDram, kL1, kHost, kTrace };

struct Slice {
  SliceKind kind = SliceKind::kDram;
  uint64_t address = 0;
  uint32_t bytes = 0;  // of a bank, of a worker, of the host's memory
  uint32_t owner = 0;
  bool multicast_pending = false;  // multicast into since the last barrier
  bool unknown_to_prefetch = false;
};

// What all queues of a stream share.
struct StreamWorld {
  Random random;
  BenchOptions options;
  ReferenceLayout layout;
  uint64_t host_address = 0;  // of the read-only part
  std::vector<Slice> slices;
  std::vector<StreamEntry> entries;
  // WRITE_LINEAR to the counters, whose words lie in another lane of 16 bytes than a record's data: what the
  // embedded device does and libttsim refuses (docs/simulator.md).
  bool writes_registers = true;

  uint32_t Pick(uint32_t from, uint32_t to) {
    return from + static_cast<uint32_t>(random() * (uint64_t{to} - from + 1) >> 32);
  }
  bool OneIn(uint32_t n) { return Pick(1, n) == 1; }
  std::vector<std::byte> Data(size_t size);
};

// Workers that a queue starts together.
struct SubDevice {
  uint32_t id = 0;
  std::vector<uint32_t> workers;  // NocXy
};

class StreamQueue {
 public:
  StreamQueue(StreamWorld& world, uint32_t queue, std::vector<SubDevice> sub_devices);

  // A few commands of any kind.
  void Operation();
  // Everything written so far has landed; event `id` becomes visible to every queue's dispatch tile.
  void RecordEvent(uint32_t id);
  void AwaitEvent(uint32_t of_queue, uint32_t id);
  // Ends the queue's three harts.
  void Terminate();
  void CloseEntry(bool stall_after = false);

 private:
  // A dispatch command and where its data goes. The data is not there yet.
  struct Write {
    std::vector<std::byte> header;  // with its list
    uint32_t data_bytes = 0;
    std::optional<size_t> slice;  // what it writes; none: the completion ring, registers
    bool multicast = false;
    bool may_follow = true;  // behind RELAY_INLINE_NOFLUSH
  };
  // State that commands leave behind, and that a trace brings with it.
  struct Carried {
    std::array<uint32_t, abi::kMaxWriteOffsets> write_offsets = {};
    uint32_t ring_offset = 0;
    uint32_t ring_write_pointer = 0;
    std::vector<uint32_t> go_targets;
    std::vector<uint32_t> expected;  // answers, by sub-device
  };
  struct Trace {
    uint32_t log_page = 0;
    std::vector<std::byte> bytes;
    std::vector<std::pair<uint32_t, uint32_t>> data;  // [begin, end) that may be patched
    std::set<size_t> slices;
    std::set<size_t> multicast_pending;
    std::set<size_t> unknown_to_prefetch;
    Carried after;
  };

  // Entries.
  void Emit(const std::function<void(RecordWriter&)>& write);
  template <typename T>
  void Dispatch(const T& command, ByteSpan extra = {});
  template <typename T>
  void DispatchS(const T& command, ByteSpan extra = {});
  uint32_t InlineRoom() const;  // of a command's payload in an empty entry

  // Rules.
  void Barrier();
  void SyncPrefetch();
  void BeforeWrite(size_t slice, bool multicast);
  void BeforeRead(size_t slice);
  void Use(size_t slice);
  std::optional<size_t> PickSlice(std::initializer_list<SliceKind> kinds,
                                  std::optional<size_t> but_not = std::nullopt);

  // Writes: what to write where, then where the data comes from.
  void WriteSomething();
  std::optional<Write> WriteLinear();
  std::optional<Write> WriteMulticast();
  std::optional<Write> WritePaged();
  std::optional<Write> WritePacked();
  std::optional<Write> WritePackedLarge();
  std::optional<Write> WriteHost();
  void Supply(const Write& write);
  void SupplyInline(const Write& write);
  bool SupplyLinear(const Write& write);
  bool SupplyPaged(const Write& write);
  bool SupplyPacked(const Write& write);
  bool SupplyRingbuffer(const Write& write);
  void Follow(const Write& write, const std::function<void(RecordWriter&)>& relay);
  uint32_t Size(uint32_t most);
  uint32_t Rectangle(uint32_t* receivers);
  uint32_t WriteOffsetIndex() { return world_.Pick(0, abi::kMaxWriteOffsets - 1); }

  // Everything else.
  void Idle();
  void SetWriteOffsets();
  void FillRingbuffer();
  void SetRingbufferOffset();
  void HostEvent();
  void OwnCounter();
  void SetGoTargets();
  void LaunchMessage(const SubDevice& sub_device, uint32_t slot);
  void SendGo();
  void AwaitGos(size_t sub_device, bool clear);
  void AddToCounter();
  void SetWorkerStreams();
  void AddToStream(uint32_t stream, uint32_t value);
  uint32_t StreamOf(size_t sub_device) const;

  void RecordTrace();
  void UploadTrace(size_t number);
  void ReplayTrace();
  void PatchTrace();
  size_t TraceSlice(size_t number) const;

  StreamWorld& world_;
  const uint32_t queue_;
  const std::vector<SubDevice> sub_devices_;
  std::vector<std::byte> entry_;
  Carried carried_;
  uint32_t events_ = 0;
  std::array<Trace, kTracesOfQueue> traces_;
  Trace* recording_ = nullptr;
};

}  // namespace ttfd::testing
