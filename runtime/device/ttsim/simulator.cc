#include "runtime/device/ttsim/simulator.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/base/bits.h"
#include "runtime/device/ttsim/refusal.h"

namespace ttfd::ttsim {

StatusOr<std::unique_ptr<Simulator>> Simulator::Start(const Options& options) {
  std::unique_ptr<Simulator> simulator(new Simulator(options));
  RETURN_IF_ERROR(simulator->MakeMailbox());
  RETURN_IF_ERROR(simulator->Restart());
  return simulator;
}

Simulator::~Simulator() {
  child_.reset();
  if (mailbox_ != nullptr) munmap(mailbox_, sizeof(Mailbox));
}

Status Simulator::MakeMailbox() {
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

Status Simulator::Restart() {
  child_.reset();
  ++generation_;
  posted_ = 0;
  lost_ = OkStatus();
  mailbox_->current = {.kind = RequestKind::kStart};
  auto started =
      ChildProcess::Start({options_.child_program, options_.library}, mailbox_file_.get());
  if (!started.ok()) return lost_ = started.status();
  child_ = *std::move(started);
  Answer hello;
  const Status ready = child_->Receive(MutableBytesOf(hello), options_.patience);
  if (!ready.ok()) return Lose(ready);
  if (hello.version != kWireVersion) {
    return Lose(Error(StatusCode::kUnavailable, "{} speaks version {}, not {}",
                      options_.child_program, hello.version, kWireVersion));
  }
  for (const Mapping& mapping : mappings_) {
    const Request map = {RequestKind::kMap, 0, mapping.bus_address, mapping.size};
    RETURN_IF_ERROR(Ask(map, {}, mapping.file.get()).status());
  }
  return OkStatus();
}

Status Simulator::Lose(const Status& symptom) {
  const bool hung = symptom.code() == StatusCode::kDeadlineExceeded;
  const std::string& end = child_->End();
  const Request current = mailbox_->current;
  if (const auto refusal = FindRefusal(child_->printed())) {
    lost_ = ToStatus(*refusal, current);
  } else if (hung) {
    lost_ = Error(StatusCode::kUnavailable,
                  "the simulator did not answer within {} s and was ended (it was at: {})",
                  std::chrono::duration_cast<std::chrono::seconds>(options_.patience).count(),
                  Describe(current));
  } else {
    lost_ = Error(StatusCode::kUnavailable, "the simulator's process ended: {} (it was at: {}; {})",
                  end, Describe(current), StatusMessage(symptom));
  }
  child_.reset();
  posted_ = 0;
  return lost_;
}

Status Simulator::Put(const Request& request, ByteSpan data) {
  RETURN_IF_ERROR(lost_);
  const auto bytes = static_cast<uint32_t>(sizeof(Request) + AlignUp(data.size(), sizeof(Request)));
  if (posted_ + bytes > kRequestBytes) RETURN_IF_ERROR(Ring().status());
  std::byte* const at = mailbox_->requests + posted_;
  StoreAt(at, request);
  if (!data.empty()) std::memcpy(at + sizeof(Request), data.data(), data.size());
  posted_ += bytes;
  return OkStatus();
}

StatusOr<Answer> Simulator::Ring(int file) {
  const Doorbell doorbell = {std::exchange(posted_, 0)};
  Answer answer;
  Status status = child_->Send(BytesOf(doorbell), file);
  if (status.ok()) status = child_->Receive(MutableBytesOf(answer), options_.patience);
  if (!status.ok()) return Lose(status);
  return answer;
}

StatusOr<Answer> Simulator::Ask(const Request& request, MutableByteSpan reply, int file) {
  RETURN_IF_ERROR(Put(request));
  ASSIGN_OR_RETURN(const Answer answer, Ring(file));
  if (answer.reply_bytes != reply.size()) {
    return Lose(Error(StatusCode::kUnavailable, "a reply of {} bytes, not {}", answer.reply_bytes,
                      reply.size()));
  }
  if (!reply.empty()) std::memcpy(reply.data(), mailbox_->reply, reply.size());
  return answer;
}

Status Simulator::MapHostMemory(uint64_t bus_address, const HostPages& pages) {
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

}  // namespace ttfd::ttsim
