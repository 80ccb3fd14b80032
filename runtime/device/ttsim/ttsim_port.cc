#include "runtime/device/ttsim/ttsim_port.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/base/bits.h"
#include "runtime/device/ttsim/refusal.h"
#include "runtime/hw/pcie.h"

namespace ttfd {
namespace {

using ttsim::Answer;
using ttsim::Mailbox;
using ttsim::Request;
using ttsim::RequestKind;

// One call of Advance: a second or two on the slowest simulator seen, so that patience means a hang.
constexpr uint64_t kMaxClocks = 20'000;
constexpr uint32_t kConfigBar0 = 0x10;

}  // namespace

StatusOr<std::unique_ptr<TtsimPort>> TtsimPort::Start(const Options& options) {
  std::unique_ptr<TtsimPort> port(new TtsimPort(options));
  RETURN_IF_ERROR(port->MakeMailbox());
  RETURN_IF_ERROR(port->StartChild());
  return port;
}

TtsimPort::~TtsimPort() {
  child_.reset();
  if (mailbox_ != nullptr) munmap(mailbox_, sizeof(Mailbox));
}

Status TtsimPort::MakeMailbox() {
  mailbox_file_.Reset(memfd_create("ttfd-ttsim-mailbox", MFD_CLOEXEC));
  if (!mailbox_file_.valid() || ftruncate(mailbox_file_.get(), sizeof(Mailbox)) != 0) {
    return Internal("the simulator's mailbox: {}", std::strerror(errno));
  }
  void* const mapped =
      mmap(nullptr, sizeof(Mailbox), PROT_READ | PROT_WRITE, MAP_SHARED, mailbox_file_.get(), 0);
  if (mapped == MAP_FAILED) return Internal("the simulator's mailbox: {}", std::strerror(errno));
  mailbox_ = static_cast<Mailbox*>(mapped);
  return OkStatus();
}

Status TtsimPort::StartChild() {
  child_.reset();
  posted_ = 0;
  lost_ = OkStatus();
  mailbox_->current = {.kind = RequestKind::kStart};
  auto started =
      ttsim::ChildProcess::Start({options_.child_program, options_.library}, mailbox_file_.get());
  if (!started.ok()) return lost_ = started.status();
  child_ = *std::move(started);
  Answer hello;
  const Status ready = child_->Receive(MutableBytesOf(hello), options_.patience);
  if (!ready.ok()) return Lose(ready);
  if (hello.version != ttsim::kWireVersion) {
    return Lose(Error(StatusCode::kUnavailable, "{} speaks version {}, not {}",
                      options_.child_program, hello.version, ttsim::kWireVersion));
  }
  for (uint32_t i = 0; i < std::size(bars_); ++i) {
    ASSIGN_OR_RETURN(const uint32_t low, ConfigRead(kConfigBar0 + 8 * i));
    ASSIGN_OR_RETURN(const uint32_t high, ConfigRead(kConfigBar0 + 8 * i + 4));
    constexpr uint32_t kBarFlags = 0xF;
    bars_[i] = uint64_t{high} << 32 | (low & ~kBarFlags);
  }
  for (const Mapping& mapping : mappings_) {
    const Request map = {RequestKind::kMap, 0, mapping.bus_address, mapping.size};
    RETURN_IF_ERROR(Ask(map, {}, mapping.file.get()).status());
  }
  used_ = false;
  return OkStatus();
}

Status TtsimPort::Reset() {
  if (lost_.ok() && !used_) return OkStatus();
  return StartChild();
}

Status TtsimPort::Lose(const Status& symptom) {
  const bool hung = symptom.code() == StatusCode::kDeadlineExceeded;
  const std::string& end = child_->End();
  const Request current = mailbox_->current;
  if (const auto refusal = ttsim::FindRefusal(child_->printed())) {
    lost_ = ttsim::ToStatus(*refusal, current);
  } else if (hung) {
    lost_ = Error(StatusCode::kUnavailable,
                  "the simulator did not answer within {} s and was ended (it was at: {})",
                  std::chrono::duration_cast<std::chrono::seconds>(options_.patience).count(),
                  ttsim::Describe(current));
  } else {
    lost_ = Error(StatusCode::kUnavailable, "the simulator's process ended: {} (it was at: {}; {})",
                  end, ttsim::Describe(current), StatusMessage(symptom));
  }
  child_.reset();
  posted_ = 0;
  return lost_;
}

Status TtsimPort::Put(const Request& request, ByteSpan data) {
  RETURN_IF_ERROR(lost_);
  const auto bytes = static_cast<uint32_t>(sizeof(Request) + AlignUp(data.size(), sizeof(Request)));
  if (posted_ + bytes > ttsim::kRequestBytes) RETURN_IF_ERROR(Ring().status());
  std::byte* const at = mailbox_->requests + posted_;
  StoreAt(at, request);
  if (!data.empty()) std::memcpy(at + sizeof(Request), data.data(), data.size());
  posted_ += bytes;
  return OkStatus();
}

StatusOr<Answer> TtsimPort::Ring(int file) {
  const ttsim::Doorbell doorbell = {std::exchange(posted_, 0)};
  Answer answer;
  Status status = child_->Send(BytesOf(doorbell), file);
  if (status.ok()) status = child_->Receive(MutableBytesOf(answer), options_.patience);
  if (!status.ok()) return Lose(status);
  return answer;
}

StatusOr<Answer> TtsimPort::Ask(const Request& request, MutableByteSpan reply, int file) {
  RETURN_IF_ERROR(Put(request));
  ASSIGN_OR_RETURN(const Answer answer, Ring(file));
  if (answer.reply_bytes != reply.size()) {
    return Lose(Error(StatusCode::kUnavailable, "a reply of {} bytes, not {}", answer.reply_bytes,
                      reply.size()));
  }
  if (!reply.empty()) std::memcpy(reply.data(), mailbox_->reply, reply.size());
  return answer;
}

StatusOr<uint32_t> TtsimPort::ConfigRead(uint32_t offset) {
  uint32_t value = 0;
  RETURN_IF_ERROR(Ask({RequestKind::kConfigRead, 0, offset}, MutableBytesOf(value)).status());
  return value;
}

StatusOr<uint64_t> TtsimPort::Locate(int bar, uint64_t offset, uint64_t size) const {
  // The library's address space is one; an access must not stray from one BAR into another.
  const uint64_t end = bar == 0 ? hw::kBar0Bytes : hw::kBar2Bytes;
  if ((bar != 0 && bar != 2) || size > end || offset > end - size) {
    return InvalidArgument(
        "{} bytes at {:#x} of BAR{}: the card's windows and registers are in "
        "BAR0 and BAR2",
        size, offset, bar);
  }
  return bars_[bar / 2] + offset;
}

Status TtsimPort::BarRead(int bar, uint64_t offset, MutableByteSpan to) {
  RETURN_IF_ERROR(lost_);
  ASSIGN_OR_RETURN(uint64_t address, Locate(bar, offset, to.size()));
  used_ = true;
  while (!to.empty()) {
    const auto size = static_cast<uint32_t>(std::min<size_t>(to.size(), ttsim::kPieceBytes));
    RETURN_IF_ERROR(Ask({RequestKind::kRead, size, address}, to.first(size)).status());
    address += size;
    to = to.subspan(size);
  }
  return OkStatus();
}

Status TtsimPort::BarWrite(int bar, uint64_t offset, ByteSpan from) {
  RETURN_IF_ERROR(lost_);
  ASSIGN_OR_RETURN(uint64_t address, Locate(bar, offset, from.size()));
  used_ = true;
  while (!from.empty()) {
    const auto size = static_cast<uint32_t>(std::min<size_t>(from.size(), ttsim::kPieceBytes));
    RETURN_IF_ERROR(Put({RequestKind::kWrite, size, address}, from.first(size)));
    address += size;
    from = from.subspan(size);
  }
  return OkStatus();
}

Status TtsimPort::MapHostMemory(uint64_t bus_address, const HostPages& pages) {
  std::erase_if(mappings_, [bus_address](const Mapping& mapping) {
    return mapping.bus_address == bus_address;
  });
  if (pages.bytes.empty()) {
    return Ask({RequestKind::kUnmap, 0, bus_address}, {}).status();
  }
  UniqueFd file(fcntl(pages.file, F_DUPFD_CLOEXEC, 0));
  if (!file.valid()) return Internal("host memory's file: {}", std::strerror(errno));
  const Request map = {RequestKind::kMap, 0, bus_address, pages.bytes.size()};
  RETURN_IF_ERROR(Ask(map, {}, file.get()).status());
  mappings_.push_back({bus_address, pages.bytes.size(), std::move(file)});
  return OkStatus();
}

StatusOr<AdvanceResult> TtsimPort::Advance(uint64_t clocks) {
  used_ = true;
  const Request clock = {RequestKind::kClock, 0, 0, std::min(clocks, kMaxClocks)};
  ASSIGN_OR_RETURN(const Answer answer, Ask(clock, {}));
  return AdvanceResult{answer.clocks, false};
}

}  // namespace ttfd
