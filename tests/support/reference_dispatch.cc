// The reference executor's half behind the prefetcher: dispatch commands.
#include <cstring>

#include "runtime/abi/launch.h"
#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"
#include "runtime/command/dispatch_decoder.h"
#include "runtime/hw/stream.h"
#include "tests/support/reference_executor.h"

namespace ttfd::testing {
namespace {

template <typename Kinds>
void CountDispatch(const DecodedDispatch& dispatch, Kinds* kinds) {
  const auto count = [&](const auto& header) { ++(*kinds)[static_cast<size_t>(header.id)]; };
  std::visit(count, dispatch.header);
  (*kinds)[static_cast<size_t>(abi::DispatchId::kDebug)] += dispatch.debugs;
}

}  // namespace

StatusOr<ReferenceExecutor::Step> ReferenceExecutor::ExecuteDispatch(
    uint32_t index, const DecodedDispatch& dispatch) {
  Queue& queue = queues_[index];
  if (queue.outcome.dispatch_ended) return Internal("a dispatch command behind TERMINATE");
  if (const auto* wait = std::get_if<abi::Wait>(&dispatch.header)) {
    ASSIGN_OR_RETURN(const Step step, Wait(index, *wait));
    if (step == Step::kBlocked) return step;
  } else if (std::holds_alternative<abi::WriteLinear>(dispatch.header)) {
    RETURN_IF_ERROR(WriteLinear(queue, dispatch));
  } else if (std::holds_alternative<abi::WriteLinearHHost>(dispatch.header)) {
    RETURN_IF_ERROR(HostWrite(queue, dispatch));
  } else if (const auto* paged = std::get_if<abi::WritePaged>(&dispatch.header)) {
    RETURN_IF_ERROR(card_.WritePaged(paged->is_dram != 0, paged->start_page, paged->base_address,
                                     paged->page_size, dispatch.data));
  } else if (std::holds_alternative<abi::WritePacked>(dispatch.header)) {
    RETURN_IF_ERROR(WritePacked(queue, dispatch));
  } else if (std::holds_alternative<abi::WritePackedLarge>(dispatch.header)) {
    RETURN_IF_ERROR(WritePackedLarge(queue, dispatch));
  } else if (const auto* set = std::get_if<abi::SetWriteOffset>(&dispatch.header)) {
    for (uint32_t i = 0; i < set->offset_count; ++i) queue.write_offsets[i] = dispatch.words[i];
  } else if (const auto* notify = std::get_if<abi::NotifySubordinate>(&dispatch.header)) {
    for (uint32_t i = 0; i < abi::kMaxSubDevices; ++i) {
      queue.outcome.notified[i] += notify->index_bitmask >> i & 1;
    }
  } else if (const auto* bare = std::get_if<abi::BareDispatch>(&dispatch.header)) {
    queue.outcome.dispatch_ended = bare->id == abi::DispatchId::kTerminate;
  } else if (!std::holds_alternative<abi::Delay>(dispatch.header)) {
    return Internal("a command of dispatch_s for the dispatcher");
  }
  queue.outcome.dispatch_commands += 1 + dispatch.debugs;
  CountDispatch(dispatch, &queue.outcome.dispatch_kinds);
  return Step::kDone;
}

StatusOr<ReferenceExecutor::Step> ReferenceExecutor::Wait(uint32_t index, const abi::Wait& wait) {
  if ((wait.flags & abi::kWaitMemory) != 0) {
    ASSIGN_OR_RETURN(
        const MutableByteSpan word,
        card_.memory().At(card_.layout().dispatch_xy[index], wait.address, sizeof(uint32_t)));
    if (!abi::CounterReached(LoadAt<uint32_t>(word.data()), wait.count)) return Step::kBlocked;
  }
  if ((wait.flags & abi::kWaitStream) != 0 &&
      !hw::StreamCounterReached(card_.stream(index, wait.stream), wait.count)) {
    return Step::kBlocked;
  }
  if ((wait.flags & abi::kWaitClearStream) != 0) card_.ClearStream(index, wait.stream);
  if ((wait.flags & abi::kWaitNotifyPrefetch) != 0) ++queues_[index].outcome.notifies;
  return Step::kDone;
}

Status ReferenceExecutor::WriteLinear(Queue& queue, const DecodedDispatch& dispatch) {
  const auto& write = std::get<abi::WriteLinear>(dispatch.header);
  const uint64_t address = write.address + queue.write_offsets[write.write_offset_index];
  if (write.num_mcast_dests != 0) {
    return card_.Multicast(write.noc_xy, write.num_mcast_dests, address, dispatch.data);
  }
  return card_.Write(write.noc_xy, address, dispatch.data);
}

Status ReferenceExecutor::HostWrite(Queue& queue, const DecodedDispatch& dispatch) {
  const auto& header = std::get<abi::WriteLinearHHost>(dispatch.header);
  std::vector<std::byte>& record = queue.outcome.completions.emplace_back();
  record.resize(header.length);
  StoreAt(record.data(), header);
  if (!dispatch.data.empty()) {
    std::memcpy(record.data() + sizeof(header), dispatch.data.data(), dispatch.data.size());
  }
  queue.outcome.completion_pages +=
      static_cast<uint32_t>(DivideRoundUp<uint64_t>(header.length, abi::kCompletionPageBytes));
  if (header.is_event == 0) return OkStatus();
  if (dispatch.data.size() < sizeof(uint32_t)) return InvalidArgument("an event without its id");
  queue.outcome.last_event = LoadAt<uint32_t>(dispatch.data.data());
  return OkStatus();
}

Status ReferenceExecutor::WritePacked(Queue& queue, const DecodedDispatch& dispatch) {
  const auto& packed = std::get<abi::WritePacked>(dispatch.header);
  const uint32_t address = packed.address + queue.write_offsets[packed.write_offset_index];
  const bool shared = (packed.flags & abi::kPackedNoStride) != 0;
  const size_t stride = shared ? 0 : AlignUp<size_t>(packed.size, abi::kPackedDataAlignment);
  for (size_t i = 0; i < dispatch.targets.size(); ++i) {
    const DecodedTarget& target = dispatch.targets[i];
    const ByteSpan packet = dispatch.data.subspan(i * stride, packed.size);
    RETURN_IF_ERROR((packed.flags & abi::kPackedMulticast) != 0
                        ? card_.Multicast(target.noc_word, target.receivers, address, packet)
                        : card_.Write(target.noc_word, address, packet));
  }
  return OkStatus();
}

Status ReferenceExecutor::WritePackedLarge(Queue& queue, const DecodedDispatch& dispatch) {
  const auto& large = std::get<abi::WritePackedLarge>(dispatch.header);
  const uint32_t offset = queue.write_offsets[large.write_offset_index];
  size_t at = 0;
  for (const abi::WritePackedLargeTarget& target : dispatch.large_targets) {
    const uint32_t address = target.address + offset;
    RETURN_IF_ERROR(card_.Multicast(target.rectangle, target.num_mcast_dests, address,
                                    dispatch.data.subspan(at, target.length)));
    at += AlignUp<size_t>(target.length, large.alignment);
  }
  return OkStatus();
}

StatusOr<bool> ReferenceExecutor::DrainDispatchS(uint32_t index) {
  Queue& queue = queues_[index];
  for (bool any = false;; any = true) {
    if (queue.for_dispatch_s.empty()) return any;
    if (queue.outcome.dispatch_s_ended) return Internal("a command behind dispatch_s's TERMINATE");
    const std::vector<std::byte>& payload = queue.for_dispatch_s.front();
    ASSIGN_OR_RETURN(const DecodedDispatch dispatch,
                     DecodeDispatch(payload, abi::DispatcherType::kDispatchS, false));
    if (const auto* go = std::get_if<abi::SendGoSignal>(&dispatch.header)) {
      ASSIGN_OR_RETURN(const Step step, SendGo(index, *go));
      if (step == Step::kBlocked) return any;
    } else if (const auto* sems = std::get_if<abi::SetNumWorkerSems>(&dispatch.header)) {
      queue.worker_streams = sems->num;
      for (uint32_t i = 0; i < sems->num; ++i) {
        card_.ClearStream(index, card_.layout().first_worker_stream + i);
      }
    } else if (std::holds_alternative<abi::SetGoSignalNocData>(dispatch.header)) {
      queue.go_targets = dispatch.words;
    } else {
      queue.outcome.dispatch_s_ended = true;
    }
    ++queue.outcome.dispatch_s_commands;
    CountDispatch(dispatch, &queue.outcome.dispatch_kinds);
    queue.for_dispatch_s.pop_front();
  }
}

StatusOr<ReferenceExecutor::Step> ReferenceExecutor::SendGo(uint32_t index,
                                                            const abi::SendGoSignal& go) {
  Queue& queue = queues_[index];
  const uint32_t sub_device = go.wait_stream - card_.layout().first_worker_stream;
  if (sub_device >= queue.worker_streams) {
    return InvalidArgument("SEND_GO_SIGNAL for stream {}", uint32_t{go.wait_stream});
  }
  if (queue.outcome.notified[sub_device] <= queue.gos_sent[sub_device] ||
      !hw::StreamCounterReached(card_.stream(index, go.wait_stream), go.wait_count)) {
    return Step::kBlocked;
  }
  ++queue.gos_sent[sub_device];
  if (go.multicast_go_offset != abi::kNoMulticastGo) {
    for (const uint32_t xy : card_.layout().l1_xy) {
      RETURN_IF_ERROR(card_.Go(xy, go.multicast_go_offset, go.go_signal));
    }
  }
  const size_t end = size_t{go.noc_data_start_index} + go.num_unicast_txns;
  if (end > queue.go_targets.size() && go.num_unicast_txns != 0) {
    return InvalidArgument("SEND_GO_SIGNAL beyond its list of targets");
  }
  for (size_t i = go.noc_data_start_index; i < end; ++i) {
    RETURN_IF_ERROR(card_.Go(queue.go_targets[i], go.go_signal & 0xFF, go.go_signal));
  }
  return Step::kDone;
}

}  // namespace ttfd::testing
