// A mesh: sessions under one lease, connected links, and operations as a launch on each chip.
#include "ttfd/mesh/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "client/mesh/src/error.h"
#include "client/mesh/src/ring.h"
#include "firmware/mesh/elfs.h"

namespace ttfd::mesh {
namespace {

using client::Buffer;
using client::LaunchRequest;
using client::Program;
using client::Session;

constexpr uint32_t kMostConnections = 16;  // of one command
constexpr uint32_t kMostPasses = 2;        // of an operation; two stamps each
// Pages that the library chooses are multiples of it, so that any range of them may be written.
constexpr uint64_t kPageAlignment = 64;

// The program of one chip for the operations along one axis.
struct RingProgram {
  Program program;
  uint32_t sender = 0;  // kernels
  uint32_t receiver = 0;
};

// One chip: its session, and the programs and memory that the mesh has there.
struct Chip {
  std::shared_ptr<Session> session;
  std::array<RingProgram, 2> programs = {};  // by axis; empty where the axis has one chip
  Buffer stamps = {};
};

// One chip's part in an operation, in order.
using Launches = std::vector<LaunchRequest>;

std::string DescribeChip(uint32_t chip, const Status& status) {
  return fmt::format("chip {}: {}", chip, status.message());
}

// The error of a chip's session, with the chip in its message.
Status OfChip(uint32_t chip, const Status& status) {
  if (status.ok()) return status;
  client::ErrorInfo error = status.error();
  error.message = DescribeChip(chip, status);
  return Status(std::move(error));
}

Result<RingProgram> MakeProgram(Session& session, const client::Kernel& sender,
                                const client::Kernel& receiver, uint32_t axis) {
  const std::vector<client::CoreRange> worker = {client::CoreRange::Single(WorkerOf(axis))};
  client::ProgramBuilder builder;
  RingProgram made;
  made.sender = builder.AddKernel(sender, client::Processor::kNcrisc, worker);
  made.receiver = builder.AddKernel(receiver, client::Processor::kBrisc, worker);
  for (const uint32_t scratch : {kRingSenderScratch, kRingReceiverScratch}) {
    builder.AddCircularBuffer(scratch, 1, kRingScratchBytes, worker);
  }
  builder.AddSemaphore(kRingWritten, 0, worker);
  Result<Program> program = session.CreateProgram(builder);
  if (!program.ok()) return program.status();
  made.program = *std::move(program);
  return made;
}

// Kernels, programs and buffers of a chip. `used`: by axis, whether it has operations.
Status Prepare(Chip& chip, const std::array<bool, 2>& used) {
  Session& session = *chip.session;
  Result<Buffer> stamps =
      session.AllocateDram(2 * kMostPasses * kRingStampBytes, {.page_bytes = kRingStampBytes});
  if (!stamps.ok()) return stamps.status();
  chip.stamps = *std::move(stamps);
  const Result<client::Kernel> sender = session.LoadKernel(RingSenderElf(), "ring_sender");
  if (!sender.ok()) return sender.status();
  const Result<client::Kernel> receiver = session.LoadKernel(RingReceiverElf(), "ring_receiver");
  if (!receiver.ok()) return receiver.status();
  for (const uint32_t axis : {0u, 1u}) {
    if (!used[axis]) continue;
    Result<RingProgram> made = MakeProgram(session, *sender, *receiver, axis);
    if (!made.ok()) return made.status();
    chip.programs[axis] = *std::move(made);
  }
  return {};
}

// The words of a kernel, with buffers in place of its addresses.
void SetWords(LaunchRequest& launch, uint32_t kernel, const RingWords& words, const Buffer& own,
              const Buffer& gathered, const Buffer& stamps) {
  std::vector<uint32_t> common(sizeof(words) / sizeof(uint32_t));
  std::memcpy(common.data(), &words, sizeof(words));
  launch.Common(kernel, std::move(common));
  launch.Address(kernel, offsetof(RingWords, own) / sizeof(uint32_t), own);
  launch.Address(kernel, offsetof(RingWords, gathered) / sizeof(uint32_t), gathered);
  launch.Address(kernel, offsetof(RingWords, stamps) / sizeof(uint32_t), stamps);
}

Status CheckBuffer(const MeshBuffer& buffer, size_t chips, const char* name) {
  if (buffer.buffers.size() != chips || buffer.parts == 0 || buffer.part_bytes == 0) {
    return Invalid(
        name,
        fmt::format(
            "it has {} buffers and {} parts of {} bytes; a mesh of {} chips needs a buffer for "
            "each, and at least one part of at least one byte",
            buffer.buffers.size(), buffer.parts, buffer.part_bytes, chips));
  }
  const uint32_t page_bytes = buffer.page_bytes();
  if (page_bytes == 0) return Invalid(name, "its buffers are empty");
  const uint64_t needed = uint64_t{buffer.parts} * buffer.pages_per_part() * page_bytes;
  for (const Buffer& one : buffer.buffers) {
    if (one.page_bytes() != page_bytes || one.size_bytes() < needed) {
      return Invalid(
          name,
          fmt::format(
              "a buffer of {} bytes in pages of {}; {} parts of {} bytes take {} in pages of {}",
              one.size_bytes(), one.page_bytes(), buffer.parts, buffer.part_bytes, needed,
              page_bytes));
    }
  }
  return {};
}

}  // namespace

class Mesh::State {
 public:
  State(std::vector<std::shared_ptr<Session>> sessions, Placement placement)
      : placement_(std::move(placement)) {
    for (auto& session : sessions) chips_.push_back({.session = std::move(session)});
  }

  Status Connect();
  Status EnqueueGather(const MeshBuffer& from, const MeshBuffer& to, uint32_t axis);
  Status Finish();
  Result<uint64_t> Clocks();

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
  Status CheckGather(const MeshBuffer& from, const MeshBuffer& to, uint32_t axis) const;
  Launches LaunchesOf(const Line& line, uint32_t index, uint32_t axis, const MeshBuffer& from,
                      const MeshBuffer& to) const;

  const Placement placement_;
  std::vector<Chip> chips_;
  uint32_t stamps_ = 0;  // that the last operation writes
};

Status Mesh::State::Connect() {
  if (length(0) > 1 || length(1) > 1) {
    const std::vector<client::LinkConnection> all =
        ConnectionsOf(placement_, chips_.front().session->devices());
    for (size_t i = 0; i < all.size(); i += kMostConnections) {
      const auto some =
          std::span(all).subspan(i, std::min<size_t>(kMostConnections, all.size() - i));
      const Status status = chips_.front().session->queue().ConnectLinks(some);
      if (!status.ok()) return status;
    }
  }
  for (uint32_t chip = 0; chip < chips_.size(); ++chip) {
    const Status status = OfChip(chip, Prepare(chips_[chip], {length(0) > 1, length(1) > 1}));
    if (!status.ok()) return status;
  }
  return {};
}

Status Mesh::State::CheckGather(const MeshBuffer& from, const MeshBuffer& to, uint32_t axis) const {
  if (axis > 1) return Invalid("axis", fmt::format("{} is no axis of a mesh: 0 or 1", axis));
  for (const auto& [buffer, name] : {std::pair(&from, "from"), std::pair(&to, "to")}) {
    const Status status = CheckBuffer(*buffer, chips_.size(), name);
    if (!status.ok()) return status;
  }
  if (to.parts != uint64_t{from.parts} * length(axis) || to.part_bytes != from.part_bytes ||
      to.page_bytes() != from.page_bytes()) {
    return Invalid(
        "to",
        fmt::format(
            "{} parts of {} bytes in pages of {}; gathering {} parts of {} bytes in pages of {} "
            "from {} chips along axis {} takes {} parts like these",
            to.parts, to.part_bytes, to.page_bytes(), from.parts, from.part_bytes,
            from.page_bytes(), length(axis), axis, uint64_t{from.parts} * length(axis)));
  }
  for (size_t chip = 0; chip < chips_.size(); ++chip) {
    if (from.buffers[chip].handle() == to.buffers[chip].handle()) {
      return Invalid("to", fmt::format("chip {} has the same buffer in both", chip));
    }
  }
  return {};
}

Launches Mesh::State::LaunchesOf(const Line& line, uint32_t index, uint32_t axis,
                                 const MeshBuffer& from, const MeshBuffer& to) const {
  const uint32_t chip = line.chips[index];
  const RingProgram& program = chips_[chip].programs[axis];
  Launches launches;
  for (Pass& pass : GatherPasses(static_cast<uint32_t>(line.chips.size()), line.closed, index)) {
    LaunchRequest launch(program.program);
    for (const auto& [kernel, words] :
         {std::pair(program.sender, &pass.sender), std::pair(program.receiver, &pass.receiver)}) {
      SetChunk(*words, from.parts * from.pages_per_part(), from.page_bytes());
      SetWords(launch, kernel, *words, from.buffers[chip], to.buffers[chip], chips_[chip].stamps);
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

Status Mesh::State::EnqueueGather(const MeshBuffer& from, const MeshBuffer& to, uint32_t axis) {
  Status status = CheckGather(from, to, axis);
  if (!status.ok()) return status;
  for (const Line& line : LinesAlong(placement_, axis)) {
    for (uint32_t index = 0; index < line.chips.size(); ++index) {
      const uint32_t chip = line.chips[index];
      client::Queue queue = chips_[chip].session->queue();
      if (line.chips.size() == 1) {
        const uint64_t bytes = uint64_t{from.parts} * from.pages_per_part() * from.page_bytes();
        status = queue.EnqueueCopy(from.buffers[chip], 0, to.buffers[chip], 0, bytes).status();
      } else {
        const Launches launches = LaunchesOf(line, index, axis, from, to);
        stamps_ = static_cast<uint32_t>(2 * launches.size());
        for (const LaunchRequest& launch : launches) {
          status = queue.EnqueueLaunch(launch).status();
          if (!status.ok()) break;
        }
      }
      // Its neighbours wait for it.
      if (status.ok()) status = queue.Flush();
      if (!status.ok()) return OfChip(chip, status);
    }
  }
  return {};
}

Status Mesh::State::Finish() {
  Status first;
  for (uint32_t chip = 0; chip < chips_.size(); ++chip) {
    const Status status = OfChip(chip, chips_[chip].session->queue().Finish());
    if (first.ok()) first = status;
  }
  return first;
}

Result<uint64_t> Mesh::State::Clocks() {
  uint64_t most = 0;
  for (uint32_t chip = 0; stamps_ != 0 && chip < chips_.size(); ++chip) {
    std::vector<std::byte> bytes(size_t{stamps_} * kRingStampBytes);
    const Status status = chips_[chip].session->queue().Read(chips_[chip].stamps, 0, bytes);
    if (!status.ok()) return OfChip(chip, status);
    uint64_t begin = UINT64_MAX, end = 0;
    for (uint32_t i = 0; i < stamps_; ++i) {
      RingStamp stamp;
      std::memcpy(&stamp, bytes.data() + size_t{i} * kRingStampBytes, sizeof(stamp));
      begin = std::min(begin, stamp.begin);
      end = std::max(end, stamp.end);
    }
    most = std::max(most, end - begin);
  }
  return most;
}

Mesh::Mesh(std::unique_ptr<State> state) : state_(std::move(state)) {}
Mesh::Mesh(Mesh&&) noexcept = default;
Mesh& Mesh::operator=(Mesh&&) noexcept = default;
Mesh::~Mesh() = default;

Result<Mesh> Mesh::Connect(MeshOptions options) {
  Placement placement;
  {
    client::ConnectOptions look = options.session;
    look.lease.reset();
    const Result<Session> session = Session::Connect(std::move(look));
    if (!session.ok()) return session.status();
    Result<Placement> found = FindPlacement(session->devices(), options.shape, options.devices);
    if (!found.ok()) return found.status();
    placement = *std::move(found);
  }
  std::vector<std::shared_ptr<Session>> sessions;
  for (const uint32_t device : placement.devices) {
    client::ConnectOptions one = options.session;
    one.device = device;
    if (sessions.empty()) {
      if (!one.lease) one.lease.emplace();
      one.lease->devices = placement.devices;
      one.lease_token.clear();
    } else {
      one.lease.reset();
      one.lease_token = sessions.front()->lease_token();
    }
    Result<Session> session = Session::Connect(std::move(one));
    if (!session.ok()) return session.status();
    sessions.push_back(std::make_shared<Session>(*std::move(session)));
  }
  return Create(std::move(sessions), std::move(placement));
}

Result<Mesh> Mesh::Create(std::vector<std::shared_ptr<Session>> sessions, Placement placement) {
  if (sessions.empty() || sessions.size() != placement.devices.size() ||
      sessions.size() != size_t{placement.shape.rows} * placement.shape.columns) {
    return Invalid("sessions", fmt::format("{} sessions and {} devices for {} x {} chips",
                                           sessions.size(), placement.devices.size(),
                                           placement.shape.rows, placement.shape.columns));
  }
  auto state = std::make_unique<State>(std::move(sessions), std::move(placement));
  const Status status = state->Connect();
  if (!status.ok()) return status;
  return Mesh(std::move(state));
}

const Placement& Mesh::placement() const { return state_->placement(); }
uint32_t Mesh::chips() const { return static_cast<uint32_t>(state_->chips().size()); }
uint32_t Mesh::length(uint32_t axis) const { return state_->length(axis); }
Session& Mesh::session(uint32_t chip) { return *state_->chips()[chip].session; }

Result<MeshBuffer> Mesh::Allocate(uint64_t part_bytes, uint32_t parts) {
  if (part_bytes == 0 || parts == 0) {
    return Invalid("parts", fmt::format("{} parts of {} bytes: at least one of at least one byte",
                                        parts, part_bytes));
  }
  // Pages of at most a segment, of which the last one is nearly full.
  const uint64_t pages = (part_bytes + kRingSegmentBytes - 1) / kRingSegmentBytes;
  const uint64_t page_bytes =
      ((part_bytes + pages - 1) / pages + kPageAlignment - 1) / kPageAlignment * kPageAlignment;
  MeshBuffer made{.buffers = {}, .parts = parts, .part_bytes = part_bytes};
  for (uint32_t chip = 0; chip < chips(); ++chip) {
    Result<Buffer> buffer =
        session(chip).AllocateDram((part_bytes + page_bytes - 1) / page_bytes * page_bytes * parts,
                                   {.page_bytes = static_cast<uint32_t>(page_bytes)});
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
  const uint64_t stride = uint64_t{buffer.pages_per_part()} * buffer.page_bytes();
  client::Queue queue = session(chip).queue();
  if (stride == buffer.part_bytes) return OfChip(chip, queue.Write(buffer.buffers[chip], 0, bytes));
  std::vector<std::byte> padded(stride * buffer.parts);
  for (uint32_t part = 0; part < buffer.parts; ++part) {
    std::memcpy(padded.data() + part * stride, bytes.data() + part * buffer.part_bytes,
                buffer.part_bytes);
  }
  return OfChip(chip, queue.Write(buffer.buffers[chip], 0, padded));
}

Status Mesh::Read(const MeshBuffer& buffer, uint32_t chip, std::span<std::byte> into) {
  Status status = state_->CheckChip(chip);
  if (status.ok()) status = CheckBuffer(buffer, chips(), "buffer");
  if (!status.ok()) return status;
  if (into.size() != buffer.size_bytes()) {
    return Invalid("into", fmt::format("{} bytes for a buffer of {} parts of {}", into.size(),
                                       buffer.parts, buffer.part_bytes));
  }
  const uint64_t stride = uint64_t{buffer.pages_per_part()} * buffer.page_bytes();
  client::Queue queue = session(chip).queue();
  if (stride == buffer.part_bytes) return OfChip(chip, queue.Read(buffer.buffers[chip], 0, into));
  for (uint32_t part = 0; part < buffer.parts; ++part) {
    const auto result =
        queue.EnqueueRead(buffer.buffers[chip], part * stride,
                          into.subspan(part * buffer.part_bytes, buffer.part_bytes));
    if (!result.ok()) return OfChip(chip, result.status());
  }
  return OfChip(chip, queue.Finish());
}

Status Mesh::AllGather(const MeshBuffer& from, const MeshBuffer& to, uint32_t axis) {
  const Status status = EnqueueAllGather(from, to, axis);
  return status.ok() ? Finish() : status;
}

Status Mesh::EnqueueAllGather(const MeshBuffer& from, const MeshBuffer& to, uint32_t axis) {
  return state_->EnqueueGather(from, to, axis);
}

Status Mesh::Finish() { return state_->Finish(); }
Result<uint64_t> Mesh::Clocks() { return state_->Clocks(); }

}  // namespace ttfd::mesh
