// The way to a chip that only a neighbour reaches: reads and writes of its tiles through one link. No hart takes part.
//
// The host gives commands to queue 1 of the near Ethernet tile. Register writes through it set up and issue commands of
// the far tile's NIUs and of the far tile's queue 1:
//   write:           near L1 -> link -> far L1 -> NIU 1 -> any tile
//   register write:  NIU 1 -> any tile
//   read:            any tile -> NIU 1 -> far L1 -> link -> near L1
//
// Counters of the far NIU 1 show what has been carried out. NIU 0 of the far tile (buffer 1: acknowledged writes,
// buffer 2: answered reads) copies them into the line in front of an answer; behind it lies a line that shows that the
// answer has arrived. Bytes of a packet are read and written in ascending order, so a count in front says what had been
// done before the bytes were sent.
//
// A command buffer must not be written before its last command was accepted, and the near end cannot see that. It is
// written again only when the counters show that its last command has been carried out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/fabric/ethernet_end.h"
#include "runtime/hw/grid.h"

namespace ttfd {

// Not thread-safe: one thread drives both chips. The link carries nothing else on queue 1, nothing else uses the NIUs
// of the far tile, and nothing else resets the far chip: its registers hold what was written to them.
//
// UNAVAILABLE: no answer within kLinkDeadline, or the neighbour was reset while writes were outstanding. What was
// outstanding is unknown then, and every later call fails with the same error until Reopen(). A reset of the neighbour
// at another time only has the link opened again.
class RemoteLink {
 public:
  struct Counts {
    uint64_t transfers = 0;        // of bytes, by the near queue
    uint64_t register_writes = 0;  // of the far tile, by the near queue
    uint64_t answers = 0;          // by the far queue
  };

  // `far_xy`: NocXy of the far Ethernet tile, translated.
  static StatusOr<std::unique_ptr<RemoteLink>> Open(EthernetEnd near, uint32_t far_xy);
  // Begins anew, with nothing known of the far tile's registers. Commands that were issued before have been carried out
  // or are lost.
  Status Reopen();

  // Bytes of one tile (NocXy, translated), which the caller has checked to exist. A read is behind all writes before
  // it. Writes to one tile are carried out in their order.
  Status Read(uint32_t xy, uint64_t address, MutableByteSpan to);
  Status Write(uint32_t xy, uint64_t address, ByteSpan from);
  Status WriteRegister(uint32_t xy, uint32_t address, uint32_t value);
  // The same bytes to `receivers` Tensix tiles, all of the rectangle. Behind all writes before it and in front of those
  // after it.
  Status Multicast(hw::Coordinate start, hw::Coordinate end, uint32_t receivers, uint64_t address,
                   ByteSpan from);
  // Waits until every write has been carried out.
  Status Confirm();

  // Why every call fails; OK: the link is not lost.
  const Status& lost() const { return lost_; }
  const Counts& counts() const { return counts_; }

 private:
  // Registers of a command of the far NIUs.
  struct Command {
    uint64_t target = 0;
    uint32_t target_xy = 0;
    uint64_t return_address = 0;
    uint32_t return_xy = 0;
    uint32_t control = 0;
    uint32_t length = 0;
    uint32_t data = 0;  // of an inline write
  };

  RemoteLink(EthernetEnd near, uint32_t far_xy) : near_(std::move(near)), far_xy_(far_xy) {}
  // Runs `call` unless the link is lost; an error of it is the loss of the link.
  Status Do(absl::FunctionRef<Status()> call);
  Status Begin();
  Status BeginAfterReset();
  // Until commands of before Begin() have ended: none is outstanding, or the count, which a multicast that was not
  // confirmed has left at another value, does not change any more.
  Status AwaitEarlierCommands();
  // Sets the count of outstanding requests of NIU 1 to 0. REQUIRES that none is.
  Status ClearOutstanding();
  Status ReadPart(uint32_t xy, uint64_t address, MutableByteSpan to);
  // Puts the bytes into the far L1 and issues `command` for them, whose source this sets.
  Status WritePart(uint64_t address, ByteSpan from, uint32_t acknowledgements, Command command);
  Status ConfirmAll();
  Status AwaitWriteBuffer();  // until the next one is free
  Status IssueWrite(uint32_t acknowledgements, const Command& command);

  Status SendBytes(uint32_t from, uint32_t to, uint32_t bytes);
  Status SetFar(uint32_t address, uint32_t value);  // unless it has the value
  Status Fire(uint32_t address, uint32_t command);
  Status Issue(uint32_t buffer, const Command& command);
  // Brings home what the far L1 has from `begin` to the end of the answers, with a copy of a counter of NIU 1 that was
  // made before. Answers with the copy.
  // `no_copy`: a value that the counter does not have.
  StatusOr<uint32_t> Fetch(uint32_t line_buffer, uint32_t counter, uint32_t begin,
                           uint32_t no_copy);
  // Fetches until the counter has the value.
  Status FetchAt(uint32_t line_buffer, uint32_t counter, uint32_t value, uint32_t begin);

  EthernetEnd near_;
  const uint32_t far_xy_;
  Status lost_;
  std::map<uint32_t, uint32_t> far_;  // what registers of the far tile hold
  bool keeps_coordinates_ = false;    // do the far NIUs keep those of a command?
  uint32_t acknowledged_ = 0;         // what the counters show when all is done
  uint32_t answered_ = 0;
  uint32_t outstanding_ = 0;   // writes that were issued and not confirmed
  bool bytes_ = false;         // writes of bytes are among them
  bool multicast_ = false;     // the outstanding write is one
  uint32_t arrived_mark_ = 0;  // the line behind an answer holds it
  uint64_t near_resets_ = 0;   // Device::resets() of the neighbour when the link was opened
  Counts counts_;
};

}  // namespace ttfd
