// Where a debugger connects, and the chip's turns in between.
//
// No thread of its own: the device thread, which alone may touch the chip, looks at the socket before it lets
// the chip run, and waits there a moment while the chip stands still. One debugger at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"
#include "runtime/base/unix_socket.h"
#include "runtime/debug/debug_target.h"
#include "runtime/debug/gdb_session.h"
#include "runtime/debug/rsp_packet.h"
#include "runtime/device/pcie_port.h"

namespace ttfd::debug {

class GdbServer {
 public:
  // How long one call waits for the debugger while the chip stands still: long enough to cost nothing, short
  // enough for whoever else needs the device thread.
  static constexpr Duration kHaltedWait = std::chrono::milliseconds(10);

  // Listens at `where`: a path, then only the owner of this process may connect; or a number, a TCP port of
  // 127.0.0.1, then every user of the machine may. `chip` outlives the server; `halt`, which may be null, is
  // stopped while the chip stands still.
  static StatusOr<std::unique_ptr<GdbServer>> Listen(sim::Chip& chip, const std::string& where,
                                                     StoppableClock* halt);
  ~GdbServer();

  // INVALID_ARGUMENT: digits that are no port.
  static Status CheckAddress(std::string_view where);

  // Serves the debugger, then lets the chip run if it may.
  StatusOr<AdvanceResult> Advance(uint64_t clocks);
  // The same for a device thread that has nothing else to do: a debugger may come, ask and step. `advance` is whatever
  // ends in Advance() above, with all that others do around it. True: a debugger is at work; call again soon.
  using AdvanceCard = std::function<StatusOr<AdvanceResult>(uint64_t clocks)>;
  bool Attend(const AdvanceCard& advance);

  // Any thread: the debugger is sent away and nobody else let in; the chip runs. Takes effect in the next call
  // of the above.
  void Close() { closing_.store(true, std::memory_order_release); }

  // Any thread. Grows while the device thread serves the debugger or lets the chip run: it is alive, though what it
  // waits for does not move.
  uint64_t turns() const { return turns_.load(std::memory_order_relaxed); }

  // Not admitted, whoever connects waits. At first everybody is.
  void Admit(bool admits) { admits_ = admits; }

  // Answers to "monitor WORDS" of the debugger.
  void SetMonitor(GdbSession::Monitor monitor) { monitor_ = std::move(monitor); }

  const std::string& where() const { return where_; }

 private:
  GdbServer(sim::Chip& chip, StoppableClock* halt) : target_(chip), halt_(halt) {}

  void Serve(Duration wait);
  void Accept();
  void Read();
  void Take(const PacketReader::Item& item);
  void Queue(std::string_view data);
  void Flush();
  void Drop(std::string_view why);
  void KeepTime();

  DebugTarget target_;
  StoppableClock* const halt_;
  std::string where_;
  std::unique_ptr<UnixSocket> file_;  // or:
  UniqueFd port_;
  GdbSession::Monitor monitor_;
  bool admits_ = true;
  std::atomic<bool> closing_{false};
  std::atomic<uint64_t> turns_{0};

  UniqueFd connection_;
  std::unique_ptr<GdbSession> session_;  // while connection_ is valid
  PacketReader reader_;
  bool heard_ = false;   // something of this connection
  std::string last_;     // the last frame, in case it is asked for again
  std::string pending_;  // what the socket did not take yet
};

}  // namespace ttfd::debug
