// Status that every hart of ours publishes, in a fixed place of its tile's L1: kHartStatusAddress
// + hart * 64.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ttfd::abi {

enum HartState : uint32_t {
  kHartDown = 0,     // the host clears it before release
  kHartReady = 1,    // boot_nonce and protocol_version are valid
  kHartRefused = 2,  // the boot block's version is not ours; protocol_version says what ours is
  kHartStopped = 3,  // TERMINATE executed
  kHartFaulted = 4,  // fault_* are valid; the hart does nothing more
};

// Faults that firmware itself can decide. Waits are not among them: the host's deadlines bound
// those.
enum FaultCode : uint32_t {
  kFaultNone = 0,
  kFaultBadBootBlock = 1,    // detail: word index, value
  kFaultUnknownCommand = 2,  // detail: command id, address of the command
  kFaultBadLength = 3,       // detail: command id, value, allowed; also of addresses and page sizes
  kFaultBadCount = 4,        // detail: command id, value, allowed
  kFaultBadLaunch = 5,       // detail: slot, kernel address, hart
  kFaultMisplacedCommand = 6,  // detail: command id, address; as EXEC_BUF in an exec buffer
  kFaultStackOverflow = 7,     // detail: entry point of the kernel, what the guard word held, hart
  // The kernels of a launch left something in the tile's Tensix engine. detail: engine_balance.h; addresses of the
  // kernels' images / 16: TRISC0's and, 16 bits higher, TRISC1's; TRISC2's. 0: the hart ran none.
  kFaultEngineInUse = 8,
  // A kernel uses what its program or launch does not give. detail: index; Resource (resource_use.h) << 16 | how many
  // there are; address of the code behind the use.
  kFaultNotGiven = 9,
  // A kernel opens a link end that is not connected. detail: the end; 0; address of the code behind the use.
  kFaultLinkNotConnected = 10,
};

constexpr uint32_t Waypoint(char a, char b, char c, char d) {
  return static_cast<uint32_t>(static_cast<uint8_t>(a)) |
         static_cast<uint32_t>(static_cast<uint8_t>(b)) << 8 |
         static_cast<uint32_t>(static_cast<uint8_t>(c)) << 16 |
         static_cast<uint32_t>(static_cast<uint8_t>(d)) << 24;
}

// Where a hart is. A hart that waits sets one first.
inline constexpr uint32_t kWaypointBoot = Waypoint('B', 'O', 'O', 'T');
inline constexpr uint32_t kWaypointRun =
    Waypoint('R', 'U', 'N', ' ');  // executing a command, or a kernel
inline constexpr uint32_t kWaypointFetch =
    Waypoint('H', 'Q', 'W', ' ');  // prefetcher: idle, waits for a slot
inline constexpr uint32_t kWaypointStall =
    Waypoint('P', 'S', 'W', ' ');  // prefetcher: STALL, waits for NOTIFY_PREFETCH
inline constexpr uint32_t kWaypointCredit =
    Waypoint('D', 'A', 'P', 'W');  // prefetcher: waits for dispatch pages
inline constexpr uint32_t kWaypointCreditS =
    Waypoint('D', 'S', 'P', 'W');  // prefetcher: waits for dispatch_s pages
inline constexpr uint32_t kWaypointIdle =
    Waypoint('U', 'A', 'P', 'W');  // dispatcher or dispatch_s: waits for pages
inline constexpr uint32_t kWaypointCompletion =
    Waypoint('Q', 'R', 'B', 'W');  // dispatcher: completion ring full
inline constexpr uint32_t kWaypointWait =
    Waypoint('P', 'W', 'W', ' ');  // dispatcher: WAIT (wait_stream / wait_count)
inline constexpr uint32_t kWaypointWorkers =
    Waypoint('W', 'C', 'W', ' ');  // dispatch_s: waits for worker counts
inline constexpr uint32_t kWaypointNotify =
    Waypoint('D', 'C', 'W', ' ');  // dispatch_s: waits for NOTIFY_SUBORDINATE
inline constexpr uint32_t kWaypointNoc =
    Waypoint('N', 'W', 'B', 'W');  // waits for NoC acknowledgements
inline constexpr uint32_t kWaypointGo =
    Waypoint('G', 'W', ' ', ' ');  // worker: waits for a go signal
inline constexpr uint32_t kWaypointKernel = Waypoint('K', 'R', 'U', 'N');  // worker: in a kernel
inline constexpr uint32_t kWaypointSemaphore =
    Waypoint('K', 'S', 'E', 'M');  // kernel: waits for a semaphore
inline constexpr uint32_t kWaypointCircularBuffer =
    Waypoint('K', 'C', 'B', 'W');  // kernel: waits for pages of a circular buffer
inline constexpr uint32_t kWaypointPrint =
    Waypoint('K', 'P', 'R', 'W');  // kernel: waits for the host to take what it printed
inline constexpr uint32_t kWaypointEngine =
    Waypoint('T', 'S', 'Y', 'N');  // kernel: waits for its instructions in the Tensix engine
inline constexpr uint32_t kWaypointLinkSpace =
    Waypoint('K', 'L', 'C', 'W');  // kernel: waits for credits of a link
inline constexpr uint32_t kWaypointLink =
    Waypoint('K', 'L', 'P', 'W');  // kernel: waits for a segment from a link
inline constexpr uint32_t kWaypointSubordinates =
    Waypoint('S', 'U', 'B', 'W');  // BRISC: waits for the other harts' kernels
inline constexpr uint32_t kWaypointDone = Waypoint('D', 'O', 'N', 'E');  // stopped

// Kind of a note: a word of up to four letters, "task".
constexpr uint32_t NoteKind(char a, char b, char c, char d) { return Waypoint(a, b, c, d); }

struct HartStatus {
  uint32_t state;  // HartState
  uint32_t waypoint;
  uint32_t progress;          // commands (workers: launches) retired, wraps
  uint32_t protocol_version;  // the firmware's
  uint32_t boot_nonce;        // echo of the boot block's
  uint32_t fault_code;        // FaultCode
  uint32_t fault_detail[3];
  uint32_t last_event;   // dispatcher: id of the last event written to the host
  uint32_t wait_stream;  // what the current wait is for: stream (or STALL number) ...
  uint32_t wait_count;   // ... and count
  uint32_t command;      // id of the command being executed (workers: program id)
  uint32_t
      fault_offset;  // of the command that faulted: in its entry or exec buffer (prefetcher), in the ring
  uint32_t note_kind;  // of a worker: what the kernel says it is at, as NoteKind; 0: nothing
  uint32_t note;       // which one
};
static_assert(sizeof(HartStatus) == 64, "five lie between kHartStatusAddress and kGoAreaAddress");

inline constexpr uint32_t kHartStatusBytes = sizeof(HartStatus);

}  // namespace ttfd::abi
