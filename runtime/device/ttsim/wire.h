// Messages between the backend and its child process.
//
// Both map one Mailbox. The parent fills `requests` and rings with a Doorbell over a SOCK_SEQPACKET
// socket; the child does the requests in order and rings back with an Answer. Only the last request
// of a batch may have a reply. A file that a request names comes with the doorbell (SCM_RIGHTS).
// Either side takes the other's end of the socket closing for its death.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ttfd::ttsim {

inline constexpr int kSocketFd = 3;   // in the child
inline constexpr int kMailboxFd = 4;  // in the child
inline constexpr uint32_t kWireVersion = 2;

enum class RequestKind : uint32_t {
  kNone = 0,
  kStart = 1,       // not sent: what the child does before its first Answer
  kConfigRead = 2,  // address: offset, length: PCI device number. Replies 4 bytes
  kRead = 3,        // address: physical, size. Replies size bytes
  kWrite = 4,       // address: physical, size; the data follow
  kMap = 5,         // address: bus, length: bytes; the doorbell carries the file
  kUnmap = 6,       // address: bus
  kClock = 7,       // length: clocks. May do fewer: see Answer
};

// Followed by `size` bytes of data in a write, then by padding to a multiple of its own size.
struct Request {
  RequestKind kind = RequestKind::kNone;
  uint32_t size = 0;
  uint64_t address = 0;
  uint64_t length = 0;
  uint64_t reserved = 0;  // 0
};
static_assert(sizeof(Request) == 32 && std::is_trivially_copyable_v<Request>);

// A write of a whole 2 MiB window goes in four pieces.
inline constexpr uint32_t kPieceBytes = 512 * 1024;
inline constexpr uint32_t kRequestBytes = 2 * kPieceBytes;

struct Mailbox {
  Request current;  // what the child is at; read by the parent only when the child is dead
  alignas(64) std::byte requests[kRequestBytes];
  alignas(64) std::byte reply[kPieceBytes];
};

struct Doorbell {
  uint32_t request_bytes = 0;
  uint32_t reserved = 0;  // 0
};

// Clocks of a batch's kClock. The child stops early, after a few clocks, when the device has written
// to host memory, so that a completion is seen soon however many clocks were granted.
struct Answer {
  uint32_t version = kWireVersion;
  uint32_t reply_bytes = 0;
  uint64_t clocks = 0;
};

}  // namespace ttfd::ttsim
