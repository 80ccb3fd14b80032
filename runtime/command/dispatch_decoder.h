// Dispatch commands back into values: the payload of one RELAY_INLINE.
#pragma once

#include "runtime/command/decoder.h"

namespace ttfd {

inline constexpr uint64_t kMaxLength =
    0xFFFFFFFF;  // of what one command moves: firmware counts in words

// `to`: which dispatcher gets it. `data_follows`: RELAY_INLINE_NOFLUSH, the data comes from the
// relay command behind it. INVALID_ARGUMENT says why it is none.
StatusOr<DecodedDispatch> DecodeDispatch(ByteSpan payload, abi::DispatcherType to,
                                         bool data_follows);

}  // namespace ttfd
