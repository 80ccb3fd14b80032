// A session with the daemon.
//
//   #include <ttfd/session.h>
//   using namespace ttfd::client;
//
//   Result<Session> session = Session::Connect();
//   Result<Buffer> numbers = session->AllocateDram(4096);
//   Result<Kernel> kernel = session->LoadKernelFile(NextToExecutable("double_them.elf"));
//   const std::vector<CoreRange> tiles = {CoreRange{0, 0, 0, 0}};
//   ProgramBuilder builder;
//   const uint32_t k = builder.AddKernel(*kernel, Processor::kBrisc, tiles);
//   builder.AddCircularBuffer(0, 1, 2048, tiles);  // the kernel's scratch
//   Result<Program> program = session->CreateProgram(builder);
//
//   LaunchRequest launch(*program);
//   launch.Common(k, {0, 2048}).Address(k, 0, *numbers).PerCore(k, 2, {0, 2});  // from page 0, two
//   Queue queue = session->queue();
//   Status status = queue.Write(*numbers, 0, std::as_bytes(std::span(input)));
//   status = queue.Launch(launch);
//   status = queue.Read(*numbers, 0, std::as_writable_bytes(std::span(output)));
//
// (A real program looks at every result: docs/clients.md and examples/ have whole ones.)
//
// Threads. All of libttfd may be called from any thread. By default the library has no thread of
// its own: messages are sent, received and acknowledged while some thread is inside a call, and
// callbacks run on that thread. With ConnectOptions::background_thread the library's thread does
// this; a blocking call then costs one more wake-up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ttfd/kernel_print.h"
#include "ttfd/queue.h"
#include "ttfd/resources.h"
#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::client {

class SessionSlot;  // of the library

// Devices, or some workers of one, for this session alone. Leases are granted in the
// order of the requests; Connect returns when the lease is granted.
struct LeaseOptions {
  std::vector<CoreRange> workers = {};  // none: the whole device
  // Indices of devices, none twice. None: the device of the session. Several: all of them, with the links
  // between them (Queue::EnqueueConnectLinks); granted when all are free.
  std::vector<uint32_t> devices = {};
  std::optional<std::chrono::milliseconds> wait = {};  // longest; unset: Limits::lease_wait_ms
};

// State of a lease request, or of a session whose commands wait for another session's lease.
struct LeaseWait {
  // 1: next. 0: this session has requested no lease; its commands wait for another session's.
  uint32_t position = 0;
  // Sessions that hold the blocking leases, at most 3 of them; if none is held, the first that waits
  // for one. None: the lease is granted once operations of others on its workers have ended.
  std::vector<SessionClient> holders = {};
  uint32_t more_holders = 0;              // further ones
  std::chrono::milliseconds expected{0};  // an estimate
};

struct ConnectOptions {
  // gRPC address such as "unix:/run/ttfd/ttfd.sock". Empty: the environment variable TTFD_ADDRESS,
  // or that default. A path that starts with '/' is a unix socket. Any other address
  // ("card.example.org:7443") is TCP, with the certificates of `tls`.
  std::string address = {};
  // Shown to administrators. Printable UTF-8 of at most Limits::client_name_bytes.
  std::string client_name = {};
  // Index of the card of the session: of its lease, of its queues unless QueueOptions say otherwise, and of its buffers
  // and programs. None: the environment variable TTFD_DEVICE; where that is not set either, the daemon chooses the card
  // with the fewest users, or that of the lease that is joined.
  std::optional<uint32_t> device = {};
  uint32_t weight = 1;  // share among the user's sessions, 1 to Limits::weight
  Priority priority = Priority::kNormal;
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds call_timeout{60'000};  // of every blocking call
  // Enqueued commands are sent when this many have gathered; also the most in one batch.
  uint32_t batch_commands = 64;
  bool background_thread = false;
  // A session whose connection was lost is resumed within this time, by a thread that is inside a call
  // (or the background thread). Every command is executed once, every result reported once. At most
  // Limits::reconnect_timeout_ms. 0: the session ends with its connection.
  std::chrono::milliseconds reconnect_timeout{20'000};
  TlsOptions tls = {};
  std::optional<LeaseOptions> lease = {};
  // Joins the lease of another session of the same user (Session::lease_token). Empty, and without
  // `lease`: the environment variable TTFD_LEASE, as `ttfdctl lease` sets it.
  std::string lease_token = {};
  // Called on the thread that moves the stream, which is inside a call of the session; must not call
  // the session.
  std::function<void(const LeaseWait&)> on_waiting = {};
  // Called every 100 ms by a call that waits, on its own thread, for languages that handle signals between
  // calls. True: the call returns as if its timeout had passed. Must not call the session.
  std::function<bool()> interrupted = {};
};

struct DramOptions {
  uint32_t page_bytes = 2048;  // page p lies in bank p modulo banks
  int32_t bank = -1;           // not -1: all pages in this bank
};

struct L1Options {
  uint32_t page_bytes = 1024;
  std::vector<CoreRange> cores = {};  // pages over these tiles; none: over all workers
};

// An L1 buffer whose pages form rows of `row_pages`. Shards of shard_rows by shard_row_pages pages go
// to the tiles in order, row by row of shards; the last ones of a row or column may be partly used. Full
// rows make it height-sharded, one row of shards width-sharded.
struct ShardOptions {
  uint32_t page_bytes = 1024;
  std::vector<CoreRange> cores = {};  // at least one tile a shard; each range row by row
  uint32_t row_pages = 1;
  uint32_t shard_rows = 1;
  uint32_t shard_row_pages = 1;
};

struct QueueOptions {
  QueueKind kind = QueueKind::kCompute;
  // A sub-device: launches of the queue keep to these workers. No worker twice. None: all workers.
  std::vector<CoreRange> workers = {};
  // A card of the daemon, whose queues use no buffers and programs of another; unset: that of the session.
  std::optional<uint32_t> device = {};
};

class Session {
 public:
  // Opens a session. Reason UNREACHABLE: no daemon answers at the address (UNAVAILABLE), or its socket is not open to
  // this user (PERMISSION_DENIED, which is not retryable; the message names the group that may open it).
  static Result<Session> Connect(ConnectOptions options = {});

  Session(Session&&) noexcept = default;
  Session& operator=(Session&& other) noexcept;
  // Ends the session at once: commands that have not started are dropped. Close completes them first.
  // Waits for the daemon for a fifth of the connect timeout at most.
  ~Session();

  // Sends everything, waits at most call_timeout for the daemon to complete it, and ends the session.
  // OK: it has; errors of commands are not repeated here.
  Status Close();
  // Ends the session at once, as the destructor does, while other threads may be inside: their calls return
  // CANCELLED. Not from a callback.
  void Abandon();

  // ---- From the daemon's Welcome. Valid until the session object is destroyed, or a new session
  // replaces a lost one.
  uint64_t id() const;
  const std::string& address()
      const;  // of the daemon: ConnectOptions::address or what stands for it
  const std::string& daemon_version() const;
  const std::vector<DeviceInfo>& devices() const;
  const DeviceInfo& device() const;  // the session's card (ConnectOptions::device)
  const Limits& limits() const;
  // For other processes of the same user that join this session's lease. Empty: it requested none.
  std::string lease_token() const;

  // ---- Resources. These calls block for one round trip; they do not wait for enqueued commands, and
  // their failure affects no queue.
  Result<Buffer> AllocateDram(uint64_t size_bytes, const DramOptions& options = {});
  Result<Buffer> AllocateL1(uint64_t size_bytes, const L1Options& options = {});
  Result<Buffer> AllocateSharded(uint64_t size_bytes, const ShardOptions& options);
  // Sends the hash first, and the bytes only if the daemon does not have them.
  Result<Kernel> LoadKernel(std::span<const std::byte> elf, const std::string& name);
  // Without a name: that of the file. An error names the path.
  Result<Kernel> LoadKernelFile(const std::string& path, const std::string& name = {});
  // The three files that ttfd_add_kernel makes of one source with COMPUTE: `path`_trisc0.elf, `path`_trisc1.elf and
  // `path`_trisc2.elf.
  Result<ComputeKernel> LoadKernels(const std::string& path);
  Result<Program> CreateProgram(const ProgramBuilder& builder);

  // ---- Queues.
  // The compute queue of all workers that every session has.
  Queue queue();
  // Another queue. Blocks for one round trip: the library waits for a barrier, the queue's first command.
  Result<Queue> OpenQueue(const QueueOptions& options);

  // OK while the session lives; afterwards why it ended. UNAVAILABLE, retryable: the session was lost,
  // with reason SESSION_LOST (the daemon restarted, or the reconnect timeout passed), CONNECTION_LOST
  // (no daemon answers) or DRAINING; the message lists what is gone. Every call that was waiting
  // returns the same. The next call that creates something opens a new session in place of the lost
  // one, unless that had a lease. Queues and resources of the lost session stay unusable; queue()
  // returns one of the new session.
  Status status() const;
  // Number of times the connection was lost and the session resumed.
  uint64_t reconnects() const;
  // Sends and receives for at most `timeout`, for programs that enqueue and then check
  // Queue::completed.
  Status Poll(std::chrono::milliseconds timeout);

  // Called whenever a queue's completed value has moved, on the thread that moves the stream. Must
  // not call the session; a later call replaces the callback.
  void OnProgress(std::function<void(Position)> callback);
  // Called while a large Write or Read moves its payload: bytes done, bytes in all. The same rules.
  void OnTransfer(std::function<void(uint64_t, uint64_t)> callback);
  // Called with each line a kernel of this session prints, before the call that waits for its launch
  // returns. The same rules. Default: WriteToStandardError; nullptr: lines are dropped.
  void OnPrint(std::function<void(const KernelPrint&)> callback);

 private:
  explicit Session(std::shared_ptr<SessionSlot> slot);
  std::shared_ptr<SessionSlot> slot_;
};

// Address used when none is given: TTFD_ADDRESS, or "unix:/run/ttfd/ttfd.sock".
std::string DefaultAddress();

// The path of `file` in the folder of the running executable, wherever the program was started; an absolute path
// stays as it is.
std::string NextToExecutable(const std::string& file);

// The lease of `ttfdctl lease`, if this process runs under one: TTFD_LEASE. Empty: none.
std::string DefaultLeaseToken();

}  // namespace ttfd::client
