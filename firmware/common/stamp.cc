// The two words behind an image's first instruction, by which the host knows it before it runs.
#include "runtime/abi/version.h"

namespace {
[[gnu::section(".stamp"), gnu::used]] constinit const uint32_t kStamp[2] = {
    ttfd::abi::kMagic, ttfd::abi::kProtocolVersion};
}  // namespace
