// A card in a few lines.
#include "tests/support/fake_dispatcher.h"

#include <utility>

namespace ttfd {

FakeDispatcher::FakeDispatcher(const Behaviour& behaviour)
    : geometry_(std::vector<uint32_t>{1, 2, 3, 4}, std::vector<uint32_t>(behaviour.dram_banks, 0),
                {16, 3}) {
  card_.grid = behaviour.grid;
  card_.dram_banks = behaviour.dram_banks;
  card_.dram_bank_bytes = behaviour.dram_bank_bytes;
  card_.l1_base = 0xB0000;
  card_.l1_bytes = behaviour.l1_bytes;
  info_.board = "p150";
  info_.backend = "fake";
  info_.dram_bank_bytes = behaviour.dram_bank_bytes;
  info_.memory_is_zero_after_power_on = behaviour.memory_is_zero_after_power_on;
}

Status FakeDispatcher::Boot() {
  ++boots;
  booted_ = false;
  pending_.clear();
  completed_ = submitted_;
  if (failing_boots > 0) {
    --failing_boots;
    return Error(StatusCode::kDeadlineExceeded, "prefetch (16,2) BRISC is not ready");
  }
  booted_ = true;
  ++progress_;
  return OkStatus();
}

StatusOr<bool> FakeDispatcher::HasRoomFor(const Route&, const Command&) {
  if (!booted_) return Error(StatusCode::kFailedPrecondition, "not booted");
  size_t commands = 0;
  for (const Pending& pending : pending_) commands += pending.event ? 0 : 1;
  return commands < room;
}

Status FakeDispatcher::Wait(uint32_t, const Ticket&) { return OkStatus(); }

StatusOr<uint64_t> FakeDispatcher::Submit(const Route&, const Command& command) {
  if (!booted_) return Error(StatusCode::kFailedPrecondition, "not booted");
  Pending pending{++submitted_, command, ""};
  std::string entry = "launch";
  if (const auto* write = std::get_if<WriteCommand>(&command)) {
    if (write->offset % 16 != 0 || write->data.size() % 16 != 0 ||
        write->data.size() > kMaxTransferBytes) {
      return InvalidArgument("a misaligned write");
    }
    pending.payload.assign(reinterpret_cast<const char*>(write->data.data()), write->data.size());
    entry = fmt::format("write {}", write->data.size());
  } else if (const auto* fill = std::get_if<FillCommand>(&command)) {
    entry = fmt::format("fill {}", fill->size);
  } else if (const auto* read = std::get_if<ReadCommand>(&command)) {
    entry = fmt::format("read {}", read->size);
  } else if (const auto* copy = std::get_if<CopyCommand>(&command)) {
    entry = fmt::format("copy {}", copy->size);
  }
  if (keep_log) log.push_back(std::move(entry));
  pending_.push_back(std::move(pending));
  return submitted_;
}

Status FakeDispatcher::Event(uint32_t, uint64_t) {
  if (!booted_) return Error(StatusCode::kFailedPrecondition, "not booted");
  if (keep_log) log.push_back("event");
  pending_.push_back({submitted_, {}, "", true});
  return OkStatus();
}

Status FakeDispatcher::Poll() {
  if (!booted_) return Error(StatusCode::kFailedPrecondition, "not booted");
  if (!next_poll.ok()) {
    booted_ = false;
    return std::exchange(next_poll, OkStatus());
  }
  size_t left = completes_per_poll;
  while (!hold && !pending_.empty() && left > 0) {
    Pending pending = std::move(pending_.front());
    pending_.pop_front();
    ++progress_;
    if (pending.event) {
      completed_ = pending.ticket;
      continue;
    }
    --left;
    if (clock != nullptr && cost) clock->Advance(cost(pending.command));
    const Status status = Act(pending);
    if (!status.ok()) {
      booted_ = false;
      return status;
    }
  }
  // The event right behind what completed is seen with it.
  while (!hold && !pending_.empty() && pending_.front().event) {
    completed_ = pending_.front().ticket;
    pending_.pop_front();
  }
  return OkStatus();
}

Status FakeDispatcher::Act(Pending& pending) {
  if (const auto* write = std::get_if<WriteCommand>(&pending.command)) {
    Poke(write->region, write->offset, pending.payload);
  } else if (const auto* fill = std::get_if<FillCommand>(&pending.command)) {
    std::string bytes(fill->size, '\0');
    for (size_t i = 0; i < bytes.size(); i += 4) StoreAt(&bytes[i], fill->word);
    Poke(fill->region, fill->offset, bytes);
  } else if (const auto* read = std::get_if<ReadCommand>(&pending.command)) {
    const std::string bytes = Peek(read->region, read->offset, read->size);
    const size_t half = bytes.size() / 2;
    if (half > 0) read->sink(0, std::as_bytes(std::span(bytes).first(half)));
    read->sink(half, std::as_bytes(std::span(bytes).subspan(half)));
  } else if (const auto* copy = std::get_if<CopyCommand>(&pending.command)) {
    Poke(copy->to, copy->to_offset, Peek(copy->from, copy->from_offset, copy->size));
  } else if (on_launch) {
    return on_launch(std::get<LaunchCommand>(pending.command));
  }
  return OkStatus();
}

std::vector<HartReport> FakeDispatcher::Report() {
  return {{"prefetch (16,2) BRISC", 1, "HQW", 7, 0, "waits for a slot"},
          {"worker (1,2) BRISC", 1, "KRUN", 3, 0x10040, "in a kernel"}};
}

Status FakeDispatcher::Shutdown() {
  shut_down = true;
  booted_ = false;
  return OkStatus();
}

std::byte& FakeDispatcher::At(const Region& region, uint64_t offset) {
  uint64_t bank = static_cast<uint64_t>(region.single_bank);
  uint64_t address = region.base_address + offset;
  if (region.single_bank < 0) {
    const uint64_t banks =
        region.kind == MemoryKind::kDram ? card_.dram_banks : card_.grid.x * card_.grid.y;
    const uint64_t page = offset / region.page_bytes;
    bank = page % banks;
    address = region.base_address + page / banks * region.page_bytes + offset % region.page_bytes;
  }
  return memory_[{static_cast<uint64_t>(region.kind), bank, address / 4096}][address % 4096];
}

std::string FakeDispatcher::Peek(const Region& region, uint64_t offset, uint64_t size) {
  std::string bytes(size, '\0');
  for (uint64_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(At(region, offset + i));
  return bytes;
}

void FakeDispatcher::Poke(const Region& region, uint64_t offset, const std::string& bytes) {
  for (uint64_t i = 0; i < bytes.size(); ++i)
    At(region, offset + i) = static_cast<std::byte>(bytes[i]);
}

}  // namespace ttfd
