// Sizes of commands in a message: encoded bytes, as an estimate that is never too small.
#pragma once

#include <cstddef>

#include "client/cpp/src/message_limits.h"
#include "ttfd/resources.h"
#include "ttfd/session.h"
#include "ttfd/trace.h"

namespace ttfd::client {

constexpr size_t kVarintBytes = 10;  // longest varint of 64 bits
// A Command whose operation is a few numbers.
constexpr MessageSize kSmallCommand = {72, 1};
constexpr MessageSize kCoreRangeSize = {28, 0};

// Sizes of Commands.
MessageSize SizeOf(const LaunchRequest& launch);
MessageSize SizeOf(const ReplayRequest& replay);
MessageSize SizeOf(const ProgramBuilder& builder);
// Sizes of Commands that allocate.
MessageSize SizeOf(const DramOptions& options);
MessageSize SizeOf(const L1Options& options);
MessageSize SizeOf(const ShardOptions& options);
// A RecordTrace without its launches; and one of its launches.
constexpr MessageSize kRecordTrace = {72, 1};
MessageSize SizeInTrace(const LaunchRequest& launch);

}  // namespace ttfd::client
