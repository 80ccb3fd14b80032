// A session with the daemon: the start of everything.
//
//   #include <ttfd/session.h>
//   using namespace ttfd::client;
//
//   Result<Session> session = Session::Connect();
//   Result<Buffer> numbers = session->AllocateDram(4096);
//   Result<Kernel> kernel = session->LoadKernelFile("double_them.elf");
//   ProgramBuilder builder;
//   uint32_t k = builder.AddKernel(*kernel, Processor::kBrisc, {CoreRange{0, 0, 0, 0}});
//   Result<Program> program = session->CreateProgram(builder);
//
//   Queue queue = session->queue();
//   queue.Write(*numbers, 0, std::as_bytes(std::span(input)));
//   queue.Launch(LaunchRequest(*program).Common(k, {0, 1024}).Address(k, 0, *numbers));
//   queue.Read(*numbers, 0, std::as_writable_bytes(std::span(output)));
//
// (A real program looks at every result; examples/ has whole ones.)
//
// Threads. All of libttfd may be called from any thread. By default the library has no thread of
// its own: the stream moves while some thread is inside a call, and progress callbacks run on that
// thread. With ConnectOptions::background_thread the library's thread does both; a blocking call
// then costs one more wake-up.
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

// The card, or some of its workers, for this session alone. Granted first come first served, which is when Connect
// returns.
struct LeaseOptions {
  std::vector<CoreRange> workers = {};  // none: the whole device
  std::chrono::milliseconds wait{0};    // at most; 0: as long as Limits::lease_wait_ms
};

// How it stands with a lease that is waited for.
struct LeaseWait {
  uint32_t position =
      0;  // 1: next; 0: this session asked for none, its commands wait for somebody else's to end
  std::string holder = {};
  std::chrono::milliseconds expected{0};  // a guess
};

struct ConnectOptions {
  // gRPC address such as "unix:/run/ttfd/ttfd.sock". Empty: the environment variable TTFD_ADDRESS,
  // or that default. A path that starts with '/' is taken as a unix socket.
  // Any other address ("card.example.org:7443") is TCP, with the certificates of `tls`.
  std::string address = {};
  std::string client_name = {};  // for people: `ttfdctl sessions list`
  uint32_t weight = 0;           // share when the card is contended; 0 = 1
  // Goes first while its share lasts; low has an eighth of a share, high eight, which takes an administrator.
  Priority priority = Priority::kNormal;
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds call_timeout{60'000};  // of every blocking call
  // Enqueued commands that leave without being asked for, and the most that travel as one batch.
  uint32_t batch_commands = 64;
  bool background_thread = false;
  // For so long a session whose connection was lost is sought again, by whoever is inside a call (or the background
  // thread), and the daemon keeps it. Nothing is done or told twice. A daemon may allow less. 0: it ends at once.
  std::chrono::milliseconds reconnect_for{20'000};
  TlsOptions tls = {};
  std::optional<LeaseOptions> lease = {};
  // Works under the lease of which Session::lease_token told this. Empty, and without `lease`: the environment variable
  // TTFD_LEASE, as `ttfdctl lease` sets it.
  std::string lease_token = {};
  // On the thread that moves the stream; must not call back into the session.
  std::function<void(const LeaseWait&)> on_waiting = {};
};

struct DramOptions {
  uint32_t page_bytes = 2048;  // page p lies in bank p modulo banks
  int32_t bank = -1;           // not -1: all pages in this bank
};

struct L1Options {
  uint32_t page_bytes = 1024;
  std::vector<CoreRange> cores = {};  // pages over these tiles; none: over all workers
};

// A buffer of L1 whose pages form rows of `row_pages`. Shards of shard_rows by shard_row_pages pages go
// to the tiles in order, row by row of shards; the last of a row or column may be partly used. Full rows
// make it height-sharded, one row of shards width-sharded.
struct ShardOptions {
  uint32_t page_bytes = 1024;
  std::vector<CoreRange> cores = {};  // at least one tile a shard; each range row by row
  uint32_t row_pages = 1;
  uint32_t shard_rows = 1;
  uint32_t shard_row_pages = 1;
};

class Session {
 public:
  // Opens a session. UNAVAILABLE: no daemon answers at the address.
  static Result<Session> Connect(ConnectOptions options = {});

  Session(Session&&) noexcept = default;
  Session& operator=(Session&& other) noexcept;
  // Ends the session at once: work that has not started is dropped. Call Close to finish it.
  ~Session();

  // Sends everything, lets the daemon finish it, and ends the session. OK if the daemon said so;
  // errors of commands are not repeated here.
  Status Close();

  // ---- What the daemon said in its welcome. Valid as long as the session object, or until a new session takes the
  // place of a lost one.
  uint64_t id() const;
  const std::string& daemon_version() const;
  const std::vector<DeviceInfo>& devices() const;
  const DeviceInfo& device() const;  // the first one
  const Limits& limits() const;
  // For other processes of the same user that are to work under this session's lease; empty: it asked for none.
  std::string lease_token() const;

  // ---- Resources. These calls block for one round trip; they do not wait for enqueued work, and
  // their failure touches no queue.
  Result<Buffer> AllocateDram(uint64_t size_bytes, const DramOptions& options = {});
  Result<Buffer> AllocateL1(uint64_t size_bytes, const L1Options& options = {});
  Result<Buffer> AllocateSharded(uint64_t size_bytes, const ShardOptions& options);
  // Sends the hash first and the bytes only if the daemon does not have them.
  Result<Kernel> LoadKernel(std::span<const std::byte> elf, const std::string& name);
  Result<Kernel> LoadKernelFile(const std::string& path);
  Result<Program> CreateProgram(const ProgramBuilder& builder);

  // ---- Queues.
  Queue queue();  // the compute queue that is there from the start
  Result<Queue> OpenQueue(QueueKind kind, const std::vector<CoreRange>& workers = {});

  // OK while the session lives; afterwards why it ended. UNAVAILABLE, which may be retried: the session was lost, with
  // reason SESSION_LOST (the daemon does not have it any more: it was started again, or the connection was away for
  // too long), CONNECTION_LOST (no daemon answers) or DRAINING; the message says what is gone. Whatever waited
  // ends with the same. The next call that creates something opens a new session in place of the lost one, unless that
  // had a lease; queues and resources made before are of no use to it, queue() has to be asked for again.
  Status status() const;
  // How often the connection was lost and the session went on.
  uint64_t reconnects() const;
  // Lets the stream move for at most `timeout` without waiting for anything in particular, for
  // programs that enqueue and then look at Queue::completed.
  Status Poll(std::chrono::milliseconds timeout);

  // Called whenever a queue's completed value has moved, on the thread that moves the stream. Must
  // not call back into the session; a later call replaces the callback.
  void OnProgress(std::function<void(Position)> callback);
  // Called while a large Write or Read moves its payload: bytes done, bytes in all. The same rules.
  void OnTransfer(std::function<void(uint64_t, uint64_t)> callback);
  // Called with each line a kernel of this session prints, before the call that waits for its launch
  // returns. The same rules. Without a call of this, lines go to standard error (WriteToStandardError);
  // nullptr: nowhere.
  void OnPrint(std::function<void(const KernelPrint&)> callback);

 private:
  explicit Session(std::shared_ptr<SessionSlot> slot);
  std::shared_ptr<SessionSlot> slot_;
};

// Where a client connects when nobody said otherwise: TTFD_ADDRESS, or
// "unix:/run/ttfd/ttfd.sock".
std::string DefaultAddress();

// The lease of `ttfdctl lease`, if this process runs under one: TTFD_LEASE. Empty: none.
std::string DefaultLeaseToken();

}  // namespace ttfd::client
