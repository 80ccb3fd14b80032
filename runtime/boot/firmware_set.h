// The firmware images a card is booted with: flat bytes, one image a hart, loaded at
// abi::kFirmwareAddress[hart].
#pragma once

#include <array>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/hw/tensix.h"

namespace ttfd {

struct FirmwareSet {
  std::array<ByteSpan, hw::kHarts> worker;
  ByteSpan prefetch;    // BRISC
  ByteSpan dispatch;    // BRISC
  ByteSpan dispatch_s;  // NCRISC
};

// FAILED_PRECONDITION, naming the image, unless each one fits its place in L1 and carries the
// protocol version this host was built with: second word the magic, third the version.
Status CheckFirmware(const FirmwareSet& firmware);

}  // namespace ttfd
