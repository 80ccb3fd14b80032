// Basic types of libttfd: tiles, processors, the device and its limits. Coordinates are logical:
// (0, 0) is the top left worker tile and the grid has no holes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ttfd::client {

// How to reach a daemon on another machine: TCP with certificates of both sides. Paths of PEM files; an
// empty one is taken from the environment. Not used with unix sockets.
struct TlsOptions {
  std::string ca = {};           // that signed the daemon's certificate; else TTFD_TLS_CA
  std::string certificate = {};  // of this client; else TTFD_TLS_CERTIFICATE
  std::string key = {};          // of that certificate; else TTFD_TLS_KEY
  // Name in the daemon's certificate, if it is not the host of the address; else
  // TTFD_TLS_SERVER_NAME.
  std::string server_name = {};
  // A connection without traffic for this long is probed, and lost after the same time without a
  // reply.
  std::chrono::milliseconds keepalive{30'000};
};

// One worker tile.
struct Core {
  uint32_t x = 0;
  uint32_t y = 0;
  bool operator==(const Core&) const = default;
};

// Inclusive rectangle of worker tiles.
struct CoreRange {
  uint32_t x0 = 0;
  uint32_t y0 = 0;
  uint32_t x1 = 0;
  uint32_t y1 = 0;
  bool operator==(const CoreRange&) const = default;

  static CoreRange Single(Core core) { return {core.x, core.y, core.x, core.y}; }
  uint64_t count() const { return uint64_t{x1 - x0 + 1} * (y1 - y0 + 1); }
};

// The first `count` tiles of a grid `grid_x` wide, row by row, as at most two rectangles: the whole
// rows, then what is left of the last one.
std::vector<CoreRange> FirstCores(uint32_t grid_x, uint32_t count);

// The processors of a worker tile; a kernel is built for one of them. The numbers are those of the
// API.
enum class Processor : uint8_t { kBrisc = 1, kNcrisc = 2, kTrisc0 = 3, kTrisc1 = 4, kTrisc2 = 5 };

// "brisc" ... "trisc2".
const char* ProcessorName(Processor processor);

// Formats of the elements of a tile of 32 x 32. The numbers are those of the API.
enum class DataFormat : uint8_t {
  kNone = 0,  // pages are bytes
  kFloat32 = 1,
  kFloat16B = 6,  // bfloat16
  kBfp8B = 7,
  kInt32 = 9,
  kUInt16 = 10,
};

// A hint: the daemon chooses the hardware queue. Transfers of a kTransfer queue overlap kernels.
enum class QueueKind : uint8_t { kCompute = 1, kTransfer = 2 };

// Implementation that stands for the card.
enum class Backend : uint8_t {
  kUnspecified = 0,
  kEmbedded = 1,  // the model inside the daemon
  kTtsim = 2,     // a simulator library with the interface of the official simulator
  kKmd = 3,       // a card behind the vendor's kernel driver
};

// "embedded", "ttsim", "kmd"; "unknown" for other numbers, also below.
const char* BackendName(Backend backend);

struct Coordinate {
  uint32_t x = 0;
  uint32_t y = 0;
  bool operator==(const Coordinate&) const = default;
};

struct DramBank {
  Coordinate port;            // on the NoC: the tile at which NoC 0 reaches the bank
  Coordinate nearest_worker;  // logical, the worker next to that tile
  bool operator==(const DramBank&) const = default;
};

enum class LinkState : uint8_t { kUnspecified = 0, kUnknown = 1, kUp = 2, kDown = 3, kUnused = 4 };
// "unknown", "up", "down", "unused".
const char* LinkStateName(LinkState state);

// The other end of a link.
struct LinkPeer {
  uint64_t board = 0;  // id
  uint64_t asic = 0;   // id; 0: link firmware before 1.6.1
  uint32_t channel = 0;
  uint32_t asic_location = 0;  // of the chip on its board
};

// A link of a device to another one of the same daemon.
struct Neighbour {
  uint32_t channel = 0;
  uint32_t device = 0;        // index of the other
  uint32_t peer_channel = 0;  // of the other
  bool system = false;        // the daemon drives one of the two through it: not for kernels
  bool operator==(const Neighbour&) const = default;
};

// One end of a link that Queue::EnqueueConnectLinks connects.
struct LinkPlace {
  uint32_t device = 0;
  uint32_t channel = 0;
  Core worker = {};  // whose kernels use it
  uint32_t end = 0;  // by which they name it (<ttfd/link.h>): 0 to 3
};
struct LinkConnection {
  LinkPlace a;
  LinkPlace b;
};

// An Ethernet link of a chip to a neighbour.
struct EthernetLink {
  uint32_t channel = 0;  // 0 to 13
  LinkState state = LinkState::kUnspecified;
  std::optional<LinkPeer> peer = {};  // while the link is up
  uint32_t retrains = 0;              // since power-on
  std::string firmware_version = {};
};

// A card. Constant while the daemon runs.
struct DeviceInfo {
  uint32_t index = 0;
  std::string board;  // "p100a", "p150"
  Backend backend = Backend::kUnspecified;
  uint32_t grid_x = 0;  // the worker grid
  uint32_t grid_y = 0;
  uint32_t dram_banks = 0;
  uint64_t dram_bank_bytes = 0;
  uint32_t dram_alignment = 0;  // pages of DRAM buffers begin on multiples of it
  uint64_t l1_bytes = 0;        // of one worker, for L1 buffers
  uint32_t l1_alignment = 0;    // pages of L1 buffers begin on multiples of it
  uint64_t clock_hz = 0;
  uint32_t circular_buffers = 0;       // indices of a program
  uint32_t semaphores = 0;             // indices of a program
  uint32_t argument_words = 0;         // common, and per core, of one kernel
  uint32_t circular_buffer_bytes = 0;  // of all of a program on one tile that lie on no buffer
  uint32_t transfer_alignment = 0;     // unit of Write, Fill and Copy within a page
  uint32_t kernel_bytes = 0;           // largest kernel image on a tile
  bool iommu = false;              // false: a kernel may reach any host memory the card can reach
  uint32_t l1_base = 0;            // address of the first byte of L1 buffers, on every worker
  uint64_t dram_base = 0;          // of DRAM buffers, in every bank
  uint64_t dram_bank_size = 0;     // from address 0, with what the daemon keeps at the end
  std::vector<uint32_t> worker_x;  // NoC coordinates of the grid's columns, as kernels use them
  std::vector<uint32_t> worker_y;  // and of its rows
  std::vector<DramBank> banks;
  std::vector<EthernetLink> links =
      {};                 // one for each enabled channel, ascending; of a DaemonStatus only
  uint64_t board_id = 0;  // 0: not reported
  uint64_t asic_id = 0;   // 0: not reported
  // The device through whose link the chip is reached. None: it has a PCIe port.
  std::optional<uint32_t> behind = {};
  // Links to other devices of the daemon, as it found them when it started, by channel.
  std::vector<Neighbour> neighbours = {};

  uint32_t workers() const { return grid_x * grid_y; }
};

// A session, and the client behind it.
struct SessionClient {
  uint64_t session = 0;
  std::string client_name = {};
  std::string user = {};  // name of the user, or of the client's certificate
  uint32_t uid = 0;
  std::optional<uint32_t> pid = {};  // that opened the session; unset: not known (TCP)
  bool operator==(const SessionClient&) const = default;
};

// Order between sessions that are below their share of a contended card: low has an eighth of a
// share, high eight shares.
enum class Priority : uint8_t { kLow = 1, kNormal = 2, kHigh = 3 };

// "low", "normal", "high".
const char* PriorityName(Priority priority);

// Limits of one session. Exceeding one is RESOURCE_EXHAUSTED naming it.
struct Limits {
  uint32_t message_bytes = 0;  // of one gRPC message; libttfd splits below it
  uint32_t chunk_bytes = 0;    // of one piece of payload; libttfd splits into these
  uint32_t inline_bytes = 0;   // payload that travels inside its command
  uint32_t commands_per_batch = 0;
  uint32_t waits_per_batch = 0;
  uint32_t queues = 0;
  uint32_t handles = 0;  // buffers, kernels, programs and traces together
  uint64_t dram_bytes = 0;
  uint64_t l1_bytes = 0;        // in each worker
  uint64_t transfer_bytes = 0;  // of one Write, Read, Copy or Fill
  uint64_t kernel_elf_bytes = 0;
  uint32_t sessions_per_user = 0;
  uint32_t client_name_bytes = 0;
  uint64_t trace_bytes = 0;  // of all traces together
  uint32_t buffers = 0;
  uint32_t kernels = 0;
  uint32_t programs = 0;
  uint64_t kernel_bytes = 0;  // of kernel images that kernels and programs keep
  // A session without a command for this long is ended. Unset: never.
  std::optional<uint64_t> idle_ms = {};
  // A lease held for this long is ended. Unset: never.
  std::optional<uint64_t> lease_ms = {};
  // A lease without work for this long is ended. Unset: never.
  std::optional<uint64_t> lease_idle_ms = {};
  uint64_t lease_wait_ms = 0;  // longest wait for a lease
  // Greatest ConnectOptions::weight and priority without role admin.
  uint32_t weight = 0;
  Priority priority = Priority::kNormal;
  uint32_t command_bytes = 0;         // charged to the window for each command, besides its bytes
  uint32_t nested_messages = 0;       // nested protobuf messages in one gRPC message
  uint64_t unacknowledged_bytes = 0;  // sent by the daemon ahead of the library's acks
  uint32_t reconnect_timeout_ms = 0;  // longest; ConnectOptions::reconnect_timeout is cut to it
};

}  // namespace ttfd::client
