// A mesh: sessions under one lease, connected links, and operations as a launch on each chip.
#include "ttfd/mesh/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "client/mesh/src/chip.h"
#include "client/mesh/src/error.h"
#include "client/mesh/src/mesh_buffer.h"
#include "client/mesh/src/operation.h"
#include "client/mesh/src/ring.h"
#include "ttfd/admin.h"

namespace ttfd::mesh {
namespace {

using client::Buffer;
using client::LaunchRequest;
using client::Session;

// Looks at a chip, while its operation is waited for.
constexpr std::chrono::milliseconds kLook{20}, kNoWait{0};
constexpr uint32_t kMostConnections = 16;  // of one command

// The error of a chip's session, with the chip in its message.
Status OfChip(uint32_t chip, const Status& status) {
  if (status.ok()) return status;
  client::ErrorInfo error = status.error();
  error.message = fmt::format("chip {}: {}", chip, error.message);
  return Status(std::move(error));
}

// How much an error says about why an operation failed: that a chip was reset with another says less than what that one
// did, and a hang less than a fault.
int Weight(const Status& status) {
  if (status.ok()) return 0;
  if (status.reason() == "WAIT") return 1;
  if (status.reason() == "DEVICE_RESET") return 2;
  return status.reason() == "HANG" ? 3 : 4;
}

// Waits for all that is enqueued on a queue. The error is the first one of the queue.
Status Look(client::Queue queue, std::chrono::milliseconds wait) {
  const Status status = queue.Wait({queue.id(), queue.submitted()}, wait);
  return status.reason() == "CAUSED_BY" ? queue.error() : status;
}

RingSum SumOf(Element element) {
  switch (element) {
    case Element::kInt32:
      return RingSum::kInt32;
    case Element::kFloat32:
      return RingSum::kFloat32;
    case Element::kBFloat16:
      break;
  }
  return RingSum::kBFloat16;
}

// Whether `sessions` are those of the placement's chips.
Status CheckPlacement(const std::vector<std::shared_ptr<Session>>& sessions,
                      const Placement& placement) {
  const Shape& shape = placement.shape;
  if (sessions.empty() || sessions.size() != placement.devices.size() ||
      sessions.size() != uint64_t{shape.rows} * shape.columns) {
    return Invalid("placement",
                   fmt::format("{} sessions and {} devices for {} x {} chips", sessions.size(),
                               placement.devices.size(), shape.rows, shape.columns));
  }
  if ((placement.closed[0] && shape.rows < 3) || (placement.closed[1] && shape.columns < 3)) {
    return Invalid("placement", "a closed line has three chips at least");
  }
  for (size_t chip = 0; chip < sessions.size(); ++chip) {
    if (sessions[chip]->device().index == placement.devices[chip]) continue;
    return Invalid("placement",
                   fmt::format("chip {} is device {}, and its session has device {}", chip,
                               placement.devices[chip], sessions[chip]->device().index));
  }
  return {};
}

}  // namespace

class Mesh::State {
 public:
  State(std::vector<std::shared_ptr<Session>> sessions, Placement placement,
        std::chrono::milliseconds timeout)
      : placement_(std::move(placement)), timeout_(timeout) {
    for (auto& session : sessions) chips_.emplace_back(std::move(session));
  }

  Status Connect();
  Status Enqueue(const Operation& operation);
  Status Finish(std::chrono::milliseconds timeout);
  Result<std::vector<ClockSpan>> Clocks();

  std::chrono::milliseconds timeout() const { return timeout_; }
  const Placement& placement() const { return placement_; }
  uint32_t length(uint32_t axis) const {
    return axis == 0 ? placement_.shape.rows : placement_.shape.columns;
  }
  std::vector<Chip>& chips() { return chips_; }
  Status CheckChip(uint32_t chip) const {
    if (chip < chips_.size()) return {};
    return Invalid("chip",
                   fmt::format("{} is no chip of this mesh, which has {}", chip, chips_.size()));
  }

 private:
  // Looks whether a chip can begin an operation, and makes the programs that it needs there.
  Status Prepare(uint32_t number, const Operation& operation);
  // Enqueues the part of one chip of a line.
  Status EnqueuePart(const Operation& operation, const Line& line, uint32_t index);
  // An operation has failed on some chips, and others may still wait for them: nothing is begun any more.
  void Break(const Status& why);

  const Placement placement_;
  const std::chrono::milliseconds timeout_;  // of Finish
  std::vector<Chip> chips_;
  std::array<uint32_t, 2> links_ = {};  // between neighbours, by axis
  uint32_t axis_ = 0;                   // of the last operation over links
  uint32_t launches_ = 0;               // of it
  Status broken_;                       // what operations return once one has failed
};

Status Mesh::State::Connect() {
  client::Session& first = chips_.front().session();
  const Result<Connections> found = ConnectionsOf(placement_, first.devices());
  if (!found.ok()) return found.status();
  links_ = found->links;
  const std::vector<client::LinkConnection>& all = found->all;
  for (size_t i = 0; i < all.size(); i += kMostConnections) {
    Status status = first.queue().ConnectLinks(
        std::span(all).subspan(i, std::min<size_t>(kMostConnections, all.size() - i)));
    if (!status.ok()) return status;
  }
  for (uint32_t chip = 0; chip < chips_.size(); ++chip) {
    Status status = OfChip(chip, chips_[chip].AllocateStamps());
    if (!status.ok()) return status;
  }
  return {};
}

void Mesh::State::Break(const Status& why) {
  if (!broken_.ok()) return;
  client::ErrorInfo error = why.error();
  error.code = client::Code::kFailedPrecondition;
  error.message =
      fmt::format("an operation of the mesh has failed; connect it again: {}", why.message());
  error.retryable = false;
  broken_ = Status(std::move(error));
}

Status Mesh::State::Prepare(uint32_t number, const Operation& operation) {
  Chip& chip = chips_[number];
  client::Queue queue = chip.session().queue();
  Status status = queue.error();
  if (status.ok()) status = queue.EnqueueBarrier().status();
  const uint32_t links = links_[operation.axis];
  if (links == 0) return status;
  for (const LaunchKind kind : LaunchKindsOf(operation)) {
    if (status.ok()) status = chip.MakeProgram(kind, operation.axis, links, operation.sum);
    if (!status.ok() || kind != LaunchKind::kFold) continue;
    status = chip.AllocateGathered(std::max(length(0), length(1)));
  }
  return status;
}

Status Mesh::State::EnqueuePart(const Operation& operation, const Line& line, uint32_t index) {
  const uint32_t chip = line.chips[index];
  client::Queue queue = chips_[chip].session().queue();
  if (line.chips.size() == 1) {
    const Buffer& from = operation.from.buffers[chip];
    const Buffer& to = operation.to.buffers[chip];
    if (from.handle() == to.handle()) return {};
    return queue.EnqueueCopy(from, 0, to, 0, operation.from.padded_bytes()).status();
  }
  const std::vector<LaunchRequest> launches = LaunchesOf(operation, line, index, chips_[chip]);
  axis_ = operation.axis;
  launches_ = static_cast<uint32_t>(launches.size());
  for (const LaunchRequest& launch : launches) {
    Status status = queue.EnqueueLaunch(launch).status();
    if (!status.ok()) return status;
  }
  return queue.Flush();  // its neighbours wait for it
}

Status Mesh::State::Enqueue(const Operation& operation) {
  if (!broken_.ok()) return broken_;
  if (operation.axis > 1) {
    return Invalid("axis", fmt::format("{} is no axis of a mesh: 0 or 1", operation.axis));
  }
  Status status = Check(operation, length(operation.axis), chips_.size());
  if (!status.ok()) return status;
  // A chip whose session has ended, or whose queue has failed, is found before the first launch, which would wait for
  // it.
  for (uint32_t chip = 0; chip < chips_.size(); ++chip) {
    status = OfChip(chip, Prepare(chip, operation));
    if (!status.ok()) return status;
  }
  for (const Line& line : LinesAlong(placement_, operation.axis)) {
    for (uint32_t index = 0; index < line.chips.size(); ++index) {
      status = OfChip(line.chips[index], EnqueuePart(operation, line, index));
      if (status.ok()) continue;
      if (line.chips.size() > 1) Break(status);
      return status;
    }
  }
  return {};
}

Status Mesh::State::Finish(std::chrono::milliseconds timeout) {
  // Where a chip has failed, others may wait for it until their kernel timeout: nothing is waited for any more, unless
  // the chip was reset with another one whose error has not arrived.
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  Status worst;
  bool late = false;
  bool waits = false;
  do {
    worst = {};
    waits = false;
    for (uint32_t chip = 0; chip < chips_.size(); ++chip) {
      late = std::chrono::steady_clock::now() >= deadline;
      const Status status =
          OfChip(chip, Look(chips_[chip].session().queue(), late ? kNoWait : kLook));
      if (Weight(status) > Weight(worst)) worst = status;
      waits |= status.reason() == "WAIT";
    }
  } while (waits && (worst.reason() == "WAIT" || worst.reason() == "DEVICE_RESET") && !late);
  if (!worst.ok() && worst.reason() != "WAIT") Break(worst);
  return worst;
}

Result<std::vector<ClockSpan>> Mesh::State::Clocks() {
  std::vector<ClockSpan> spans;
  for (uint32_t chip = 0; launches_ != 0 && chip < chips_.size(); ++chip) {
    Result<ClockSpan> span = chips_[chip].ReadStamps(links_[axis_], launches_);
    if (!span.ok()) return OfChip(chip, span.status());
    spans.push_back(*span);
  }
  return spans;
}

Mesh::Mesh(std::unique_ptr<State> state) : state_(std::move(state)) {}
Mesh::Mesh(Mesh&&) noexcept = default;
Mesh& Mesh::operator=(Mesh&&) noexcept = default;
Mesh::~Mesh() = default;

Result<Mesh> Mesh::Connect(MeshOptions options) {
  const Result<std::vector<client::DeviceInfo>> devices =
      client::Admin::Connect(options.session.address, options.session.connect_timeout,
                             options.session.tls)
          .ListDevices();
  if (!devices.ok()) return devices.status();
  Result<Placement> placement = FindPlacement(*devices, options.shape, options.devices);
  if (!placement.ok()) return placement.status();
  std::vector<std::shared_ptr<Session>> sessions;
  for (const uint32_t device : placement->devices) {
    client::ConnectOptions one = options.session;
    one.device = device;
    if (sessions.empty()) {
      if (!one.lease) one.lease.emplace();
      one.lease->devices = placement->devices;
      one.lease_token.clear();
    } else {
      one.lease.reset();
      one.lease_token = sessions.front()->lease_token();
    }
    Result<Session> session = Session::Connect(std::move(one));
    if (!session.ok()) return session.status();
    sessions.push_back(std::make_shared<Session>(*std::move(session)));
  }
  return Create(std::move(sessions), *std::move(placement), options.session.call_timeout);
}

Result<Mesh> Mesh::Create(std::vector<std::shared_ptr<Session>> sessions, Placement placement,
                          std::chrono::milliseconds timeout) {
  Status status = CheckPlacement(sessions, placement);
  if (!status.ok()) return status;
  auto state = std::make_unique<State>(std::move(sessions), std::move(placement), timeout);
  status = state->Connect();
  if (!status.ok()) return status;
  return Mesh(std::move(state));
}

const Placement& Mesh::placement() const { return state_->placement(); }
uint32_t Mesh::chips() const { return static_cast<uint32_t>(state_->chips().size()); }
uint32_t Mesh::length(uint32_t axis) const { return state_->length(axis); }
Session& Mesh::session(uint32_t chip) { return state_->chips()[chip].session(); }

Result<MeshBuffer> Mesh::Allocate(uint64_t part_bytes, uint32_t parts) {
  Status status = CheckSize(part_bytes, parts, "parts");
  if (!status.ok()) return status;
  const uint32_t page_bytes = PageBytesFor(part_bytes);
  MeshBuffer made{.buffers = {}, .parts = parts, .part_bytes = part_bytes};
  for (uint32_t chip = 0; chip < chips(); ++chip) {
    Result<Buffer> buffer =
        session(chip).AllocateDram((part_bytes + page_bytes - 1) / page_bytes * page_bytes * parts,
                                   {.page_bytes = page_bytes});
    if (!buffer.ok()) return OfChip(chip, buffer.status());
    made.buffers.push_back(*std::move(buffer));
  }
  return made;
}

Status Mesh::Write(const MeshBuffer& buffer, uint32_t chip, std::span<const std::byte> bytes) {
  Status status = state_->CheckChip(chip);
  if (status.ok()) status = CheckBuffer(buffer, chips(), "buffer");
  if (!status.ok()) return status;
  if (bytes.size() != buffer.size_bytes()) {
    return Invalid("bytes", fmt::format("{} bytes for a buffer of {} parts of {}", bytes.size(),
                                        buffer.parts, buffer.part_bytes));
  }
  return OfChip(chip, WriteParts(session(chip).queue(), buffer, chip, bytes));
}

Status Mesh::Read(const MeshBuffer& buffer, uint32_t chip, std::span<std::byte> into) {
  Status status = state_->CheckChip(chip);
  if (status.ok()) status = CheckBuffer(buffer, chips(), "buffer");
  if (!status.ok()) return status;
  if (into.size() != buffer.size_bytes()) {
    return Invalid("into", fmt::format("{} bytes for a buffer of {} parts of {}", into.size(),
                                       buffer.parts, buffer.part_bytes));
  }
  return OfChip(chip, ReadParts(session(chip).queue(), buffer, chip, into));
}

Status Mesh::AllGather(const MeshBuffer& from, const MeshBuffer& to, uint32_t axis) {
  const Status status = EnqueueAllGather(from, to, axis);
  return status.ok() ? Finish() : status;
}
Status Mesh::EnqueueAllGather(const MeshBuffer& from, const MeshBuffer& to, uint32_t axis) {
  return state_->Enqueue({Collective::kAllGather, RingSum::kNone, from, to, axis});
}

Status Mesh::ReduceScatter(const MeshBuffer& from, const MeshBuffer& to, Element element,
                           uint32_t axis) {
  const Status status = EnqueueReduceScatter(from, to, element, axis);
  return status.ok() ? Finish() : status;
}
Status Mesh::EnqueueReduceScatter(const MeshBuffer& from, const MeshBuffer& to, Element element,
                                  uint32_t axis) {
  return state_->Enqueue({Collective::kReduceScatter, SumOf(element), from, to, axis});
}

Status Mesh::AllReduce(const MeshBuffer& from, const MeshBuffer& to, Element element,
                       uint32_t axis) {
  const Status status = EnqueueAllReduce(from, to, element, axis);
  return status.ok() ? Finish() : status;
}
Status Mesh::EnqueueAllReduce(const MeshBuffer& from, const MeshBuffer& to, Element element,
                              uint32_t axis) {
  return state_->Enqueue({Collective::kAllReduce, SumOf(element), from, to, axis});
}

Status Mesh::Finish() { return Finish(state_->timeout()); }
Status Mesh::Finish(std::chrono::milliseconds timeout) { return state_->Finish(timeout); }
Result<std::vector<ClockSpan>> Mesh::Clocks() { return state_->Clocks(); }

}  // namespace ttfd::mesh
