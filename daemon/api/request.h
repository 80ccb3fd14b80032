// Requests of clients, as plain values: the API's messages without protobuf. daemon/rpc fills them
// in, daemon/session decodes (validates and resolves) them. Nothing here has been checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "daemon/api/priority.h"
#include "runtime/base/clock.h"
#include "runtime/command/program.h"
#include "runtime/hw/tensix.h"

namespace ttfd {

// A point on the timeline of a session's queue.
struct QueuePosition {
  uint32_t queue = 0;
  uint64_t value = 0;
  bool operator==(const QueuePosition&) const = default;
};

enum class BufferPlace { kUnset, kDramInterleaved, kL1Interleaved, kL1Sharded, kDramBank };

struct AllocateRequest {
  uint64_t handle = 0;
  uint64_t size_bytes = 0;
  uint32_t page_bytes = 0;
  BufferPlace place = BufferPlace::kUnset;
  std::vector<CoreRange> cores;
  uint32_t dram_bank = 0;
  uint32_t row_pages = 0;  // sharded
  uint32_t shard_rows = 0;
  uint32_t shard_row_pages = 0;
};
struct FreeRequest {
  std::vector<uint64_t> handles;
};
struct LoadKernelRequest {
  uint64_t handle = 0;
  std::string sha256;  // 32 bytes or empty
  uint64_t size = 0;
  bool is_inline = false;
  std::string inline_bytes;
  bool streamed = false;
  bool unstreamed = false;  // streamed is set, to false
  std::string name;
};
struct KernelUseRequest {
  uint64_t kernel = 0;
  bool processor_known = false;
  hw::Hart hart = hw::kBrisc;
  std::vector<CoreRange> cores;
  bool callable = false;
  bool configured = false;
};
struct CircularBufferRequest {
  uint32_t index = 0;
  uint32_t pages = 0;
  uint32_t page_bytes = 0;
  std::vector<CoreRange> cores = {};
  uint32_t format = 0;
  std::optional<uint64_t> buffer = {};
};
struct CreateProgramRequest {
  uint64_t handle = 0;
  std::vector<KernelUseRequest> kernels;
  std::vector<CircularBufferRequest> circular_buffers;
  std::vector<SemaphoreUse> semaphores;
};
struct OpenQueueRequest {
  uint32_t queue = 0;
  std::optional<uint32_t> device;
  uint32_t kind = 0;  // QueueKind of the API: 0 and 1 compute, 2 transfer
  std::vector<CoreRange> workers;
};
struct WriteRequest {
  uint64_t buffer = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  bool is_inline = false;
  std::string inline_bytes;
  bool streamed = false;
  bool unstreamed = false;  // streamed is set, to false
};
struct ReadRequest {
  uint64_t buffer = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};
struct CopyRequest {
  uint64_t from = 0;
  uint64_t from_offset = 0;
  uint64_t to = 0;
  uint64_t to_offset = 0;
  uint64_t size = 0;
};
struct FillRequest {
  uint64_t buffer = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t word = 0;
};
struct BufferArgumentRequest {
  uint32_t word = 0;
  uint64_t buffer = 0;
  uint64_t offset = 0;
};
struct ArgumentsRequest {
  uint32_t kernel = 0;
  std::vector<uint32_t> common;
  std::vector<uint32_t> per_core;
  uint32_t words_per_core = 0;
  std::vector<BufferArgumentRequest> buffers;
};
// Overhead of the heap for a block, about.
constexpr uint64_t kHeapBlockBytes = 16;
// Bytes that a vector of so many elements takes on the heap.
template <typename T>
constexpr uint64_t HeapBytes(size_t count) {
  return count == 0 ? 0 : count * sizeof(T) + kHeapBlockBytes;
}
// Memory that the arguments take, as they came and once they are resolved.
inline uint64_t HeldBytes(const ArgumentsRequest& arguments) {
  return sizeof(ArgumentsRequest) + sizeof(KernelArguments) +
         HeapBytes<uint32_t>(arguments.common.size()) +
         HeapBytes<uint32_t>(arguments.per_core.size()) +
         HeapBytes<BufferArgumentRequest>(arguments.buffers.size()) +
         HeapBytes<std::shared_ptr<void>>(arguments.buffers.size());
}
struct LaunchRequest {
  uint64_t program = 0;
  std::vector<ArgumentsRequest> arguments;
  std::optional<uint32_t> timeout_ms;
};
struct BarrierRequest {};
struct RecordTraceRequest {
  uint64_t handle = 0;
  std::vector<LaunchRequest> launches;
  bool more = false;
};
struct TracePatchRequest {
  uint32_t launch = 0;
  ArgumentsRequest arguments;
};
struct ReplayTraceRequest {
  uint64_t trace = 0;
  std::vector<TracePatchRequest> patches;
};
// One end of a link. Its worker is logical.
struct LinkEndRequest {
  uint32_t device = 0;
  uint32_t channel = 0;
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t end = 0;  // number of the worker's LinkEnd
  bool operator==(const LinkEndRequest&) const = default;
};
struct LinkConnection {
  LinkEndRequest a;
  LinkEndRequest b;
};
// Connections of one command: each takes the device thread some milliseconds.
inline constexpr size_t kMostLinkConnections = 16;
struct ConnectLinksRequest {
  std::vector<LinkConnection> connections;
};
struct UnknownRequest {};  // the oneof was not set, or by a field this daemon does not know

using Request =
    std::variant<BarrierRequest, LaunchRequest, WriteRequest, ReadRequest, FillRequest, CopyRequest,
                 AllocateRequest, FreeRequest, LoadKernelRequest, CreateProgramRequest,
                 RecordTraceRequest, ReplayTraceRequest, ConnectLinksRequest, UnknownRequest>;

// The charge to the window for each command besides its encoded bytes: about the memory it takes until it has ended
// (Limits.command_bytes; rpc_memory_test measures it).
inline constexpr uint32_t kCommandBytes = 512;

struct BatchRequest {
  uint32_t queue = 0;
  uint64_t first_value = 0;
  std::vector<QueuePosition> waits;
  std::vector<Request> commands;
  std::optional<uint32_t> start_within_ms;
  uint64_t clears_error = 0;
  // Charge to the window for each command, in order; commands beyond them cost nothing.
  std::vector<uint32_t> costs;
};

struct DataChunk {
  uint32_t queue = 0;
  uint64_t value = 0;
  uint64_t offset = 0;
  std::string payload;
  uint32_t cost = 0;  // what the window is charged for it, of a client's chunk
};

// One message of a session's client after Hello. Its parts are handled in this order.
struct MessageRequest {
  TimePoint arrived{};  // in the daemon; set by the session
  // Charge to the window: that of its commands and data, and what belongs to none of them.
  uint64_t cost = 0;
  std::vector<OpenQueueRequest> open_queues;
  std::vector<BatchRequest> batches;
  std::vector<DataChunk> data;
  std::vector<QueuePosition> cancels;  // commands from here on
  bool finish = false;
  bool leave = false;

  // Input that may not follow Finish.
  bool has_input() const { return !open_queues.empty() || !batches.empty() || !data.empty(); }
  bool empty() const { return cost == 0 && !has_input() && cancels.empty() && !finish && !leave; }
};

struct ResumeRequest {
  uint64_t session = 0;
  std::string token;
};

// Which of Hello.attach was set.
enum class AttachKind { kNew, kResume, kLease, kLeaseToken };

struct LeaseRequest {
  std::vector<uint32_t> devices;   // none: the session's
  std::vector<CoreRange> workers;  // none: the whole device
  std::optional<uint32_t> wait_ms;
};

struct HelloRequest {
  uint32_t min_revision = 0;
  uint32_t max_revision = 0;
  std::string client_name;
  std::optional<uint32_t> device;
  std::optional<uint32_t> weight;
  bool priority_known = true;
  Priority priority = Priority::kNormal;
  AttachKind attach = AttachKind::kNew;
  LeaseRequest lease;
  std::string lease_token;
  uint32_t reconnect_timeout_ms = 0;
  ResumeRequest resume;  // of kResume
};

}  // namespace ttfd
