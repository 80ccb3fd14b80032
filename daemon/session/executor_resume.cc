// What a session's commands need so that its client may come back: what it has been told, what is known already.
#include <algorithm>
#include <variant>

#include "daemon/session/errors.h"
#include "daemon/session/executor.h"
#include "daemon/session/payload.h"

namespace ttfd {

// Its client has not sent all of its payload.
bool Executor::LacksData(const Task& task) {
  if (const auto* write = std::get_if<WriteTask>(&task.work)) return write->received < write->size;
  const auto* load = std::get_if<LoadKernelTask>(&task.work);
  return load != nullptr && load->streamed && !load->loaded && load->bytes.size() < load->size;
}

// A position a queue, and one for each read that goes on, is all there is to say at once.
Status Executor::CheckReceived(const ReceivedRequest& received) const {
  const uint64_t most = queues_.size() + environment_.windows.commands;
  if (received.ended.size() + received.data.size() > most) {
    return ToStatus(LimitError("received", "commands_in_flight", environment_.windows.commands,
                               received.ended.size() + received.data.size(),
                               "a message that says so often what has been received"));
  }
  for (const QueuePosition& position : received.ended) RETURN_IF_ERROR(CheckQueue(position.queue));
  for (const DataPosition& data : received.data) RETURN_IF_ERROR(CheckQueue(data.read.queue));
  return OkStatus();
}

// Nobody knows which payload was lost on its way, so what counts from here on is what crosses this connection.
std::vector<QueuePosition> Executor::Resume() {
  payload_before_ = payload_received_;
  std::vector<QueuePosition> whole;
  for (auto& [id, queue] : queues_) {
    queue.resumed_at = queue.sent;
    const auto lacking = std::find_if(queue.tasks.begin(), queue.tasks.end(),
                                      [](const auto& task) { return LacksData(*task); });
    whole.push_back({id, lacking == queue.tasks.end() ? queue.sent : (*lacking)->first_value - 1});
  }
  return whole;
}

void Executor::SkipKnown(const CommandQueue& queue, BatchRequest* batch,
                         std::vector<LoadedKernel>* loaded) {
  if (batch->first_value == 0 || batch->first_value > queue.resumed_at) return;
  const size_t known =
      std::min<size_t>(queue.resumed_at - batch->first_value + 1, batch->commands.size());
  const auto end = batch->commands.begin() + static_cast<ptrdiff_t>(known);
  for (auto command = batch->commands.begin(); command != end; ++command) {
    SkipPayload(InlineBytes(*command));
  }
  const auto kernels = std::count_if(batch->commands.begin(), end, [](const Request& request) {
    const auto* load = std::get_if<LoadKernelRequest>(&request);
    return load != nullptr && load->is_inline;
  });
  batch->commands.erase(batch->commands.begin(), end);
  loaded->erase(loaded->begin(), loaded->begin() + kernels);
  batch->first_value += known;
  if (known > 0) batch->clears_error = 0;  // it has been heard with the first of them
}

void Executor::SkipPayload(uint64_t bytes) {
  payload_received_ += bytes;
  payload_used_ += bytes;
}

}  // namespace ttfd
