// What a session's commands take of the daemon's memory, and when they have taken enough.
#include <algorithm>
#include <utility>

#include "daemon/session/executor.h"

namespace ttfd {
namespace {

// So much is worth giving back to the system.
constexpr uint64_t kMuchMemory = 1 << 20;
// A message may go beyond the limit, and what is read while data is waited for.
constexpr uint64_t kMostOverMemory = 4;
constexpr uint64_t kMostOverPayload = 2;
constexpr uint64_t kPartsOfMemory = 16;  // and of payload

}  // namespace

// Besides its arguments and its payload.
uint64_t Executor::BytesOf(const Task& task) {
  const auto* const write = std::get_if<WriteTask>(&task.work);
  return sizeof(Task) + kHeapBlockBytes + sizeof(std::unique_ptr<Task>) +
         HeapBytes<QueuePosition>(task.waits.capacity()) +
         (write == nullptr ? 0 : HeapBytes<std::string>(write->slices.capacity()));
}

void Executor::CountInFlight() {
  const uint64_t payload = payload_received_ - payload_used_;
  use_.Set(Resource::kCommands, commands_received_ - commands_ended_);
  use_.Set(Resource::kPayloadBytes, payload);
  use_.Set(Resource::kCommandBytes, command_bytes());
  peak_bytes_ = std::max(peak_bytes_, command_bytes() + payload);
  if (command_bytes() + payload == 0) TellFreed();
}

void Executor::TellFreed() {
  if (std::exchange(peak_bytes_, 0) >= kMuchMemory) environment_.host->MemoryFreed();
}

// When the user's other sessions take the room each still has a part of its own, so that none waits for another.
bool Executor::MemoryIsFull() const {
  const SessionLimits& limits = environment_.limits;
  const uint64_t bytes = command_bytes();
  return bytes >= limits.command_bytes_in_flight ||
         (bytes >= limits.command_bytes_in_flight / kPartsOfMemory &&
          use_.user().used(Resource::kCommandBytes) >= limits.command_bytes_in_flight_per_user);
}

// The same of payload, when the sessions of the user have so many times what they may.
bool Executor::PayloadIsFull(uint64_t times) const {
  return payload_received_ - payload_used_ >= environment_.windows.payload_bytes / kPartsOfMemory &&
         use_.user().used(Resource::kPayloadBytes) / times >=
             environment_.limits.bytes_in_flight_per_user;
}

// Messages that were under way are taken, and who waits for data is read on, for it may be behind other data.
Refusal Executor::CheckPayload(const char* field) const {
  if (!PayloadIsFull(kMostOverPayload)) return std::nullopt;
  return LimitError(field, "bytes_in_flight_per_user", environment_.limits.bytes_in_flight_per_user,
                    use_.user().used(Resource::kPayloadBytes), "more payload");
}

// Who keeps to its credits is not read long before: this is for who withholds data, and sends commands instead.
Refusal Executor::CheckMemory() const {
  const uint64_t most = environment_.limits.command_bytes_in_flight;
  if (command_bytes() / kMostOverMemory < most) return std::nullopt;
  return LimitError("batch.commands", "command_bytes_in_flight", most, command_bytes(),
                    "commands while so many are on their way");
}

}  // namespace ttfd
