// How StreamQueue's sources put dispatch commands into its entries.
#pragma once

#include <algorithm>

#include "tests/support/stream_queue.h"

namespace ttfd::testing {

template <typename T>
T Command(abi::DispatchId id) {
  T command{};
  command.id = id;
  return command;
}

template <typename T>
void StreamQueue::Dispatch(const T& command, ByteSpan extra) {
  Emit([&](RecordWriter& writer) {
    MutableByteSpan to = writer.Dispatch(command, static_cast<uint32_t>(extra.size()));
    std::copy(extra.begin(), extra.end(), to.begin());
  });
}

template <typename T>
void StreamQueue::DispatchS(const T& command, ByteSpan extra) {
  Emit([&](RecordWriter& writer) {
    MutableByteSpan to = writer.DispatchS(command, static_cast<uint32_t>(extra.size()));
    std::copy(extra.begin(), extra.end(), to.begin());
  });
}

}  // namespace ttfd::testing
