// The ring.* cases: operations of libttfd_mesh on a ring of four modelled chips, by a daemon that is another process.
// Clocks are the model's, from the moment when the last chip has begun. When each of them begins depends on the host,
// and so do small figures a little.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/bench_case.h"
#include "tests/bench/daemon_case.h"
#include "ttfd/mesh/mesh.h"

namespace ttfd::bench {
namespace {

using mesh::Mesh;
using mesh::MeshBuffer;

constexpr uint32_t kChips = 4;
constexpr uint32_t kAxis = 1;
// A step of a link with the kernels at both ends, at a latency of 800; bytes a clock.
constexpr double kStepClocks = 1150, kLinkRate = 35;

Status FromClient(const client::Status& status) {
  return status.ok() ? OkStatus() : absl::InternalError(status.ToString());
}

// Chips in a ring, with so many links between neighbours.
class Ring {
 public:
  static StatusOr<std::unique_ptr<Ring>> Open(const std::string& daemon, const std::string& folder,
                                              uint32_t links) {
    std::filesystem::create_directories(folder);
    auto ring = std::make_unique<Ring>();
    ring->daemon_ = std::make_unique<DaemonUnderTest>(
        daemon, folder, std::vector<std::string>{},
        fmt::format("sim:cluster=1x{},links={},link_latency=800", kChips, links));
    ASSIGN_OR_RETURN(const std::string address, ring->daemon_->Address());
    auto mesh = Mesh::Connect({.shape = {1, kChips}, .session = {.address = address}});
    RETURN_IF_ERROR(FromClient(mesh.status()));
    ring->mesh_ = std::move(*mesh);
    return ring;
  }

  // Allocates buffers of `parts` and enqueues an operation on them a few times: in the last one no chip waits for
  // the launches of others. Returns its clocks.
  using Enqueue = std::function<client::Status(Mesh&, const MeshBuffer&, const MeshBuffer&)>;
  StatusOr<double> Run(uint64_t part_bytes, uint32_t from_parts, uint32_t to_parts,
                       const Enqueue& enqueue) {
    const auto from = mesh_->Allocate(part_bytes, from_parts);
    RETURN_IF_ERROR(FromClient(from.status()));
    const auto to = mesh_->Allocate(part_bytes, to_parts);
    RETURN_IF_ERROR(FromClient(to.status()));
    for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(FromClient(enqueue(*mesh_, *from, *to)));
    RETURN_IF_ERROR(FromClient(mesh_->Finish()));
    const auto spans = mesh_->Clocks();
    RETURN_IF_ERROR(FromClient(spans.status()));
    uint64_t begin = 0, end = 0;
    for (const mesh::ClockSpan& span : *spans) {
      begin = std::max(begin, span.begin);
      end = std::max(end, span.end);
    }
    return static_cast<double>(end - begin);
  }

 private:
  std::unique_ptr<DaemonUnderTest> daemon_;
  std::optional<Mesh> mesh_;
};

using RingFunction = std::function<StatusOr<Ring*>()>;

RingFunction Opened(const std::string& daemon, const std::string& folder, uint32_t links) {
  auto ring = std::make_shared<std::unique_ptr<Ring>>();
  return [=]() -> StatusOr<Ring*> {
    if (*ring == nullptr) {
      ASSIGN_OR_RETURN(*ring, Ring::Open(daemon, folder, links));
    }
    return ring->get();
  };
}

client::Status Gather(Mesh& mesh, const MeshBuffer& from, const MeshBuffer& to) {
  return mesh.EnqueueAllGather(from, to, kAxis);
}
client::Status ReduceScatter(Mesh& mesh, const MeshBuffer& from, const MeshBuffer& to) {
  return mesh.EnqueueReduceScatter(from, to, mesh::Element::kFloat32, kAxis);
}
client::Status AllReduce(Mesh& mesh, const MeshBuffer& from, const MeshBuffer& to) {
  return mesh.EnqueueAllReduce(from, to, mesh::Element::kFloat32, kAxis);
}

// Bytes a clock that a chip receives.
BenchCase RateCase(std::string name, const RingFunction& ring, uint64_t part_bytes,
                   uint32_t from_parts, uint32_t to_parts, const Ring::Enqueue& enqueue) {
  return {std::move(name), "B/clock", [=](std::chrono::nanoseconds) -> StatusOr<double> {
            ASSIGN_OR_RETURN(Ring* const opened, ring());
            ASSIGN_OR_RETURN(const double clocks,
                             opened->Run(part_bytes, from_parts, to_parts, enqueue));
            return static_cast<double>((kChips - 1) * part_bytes) / clocks;
          }};
}

// Share of the fastest that links allow: each of the two phases sends the others' chunks in both directions of all
// links, and takes a step for each of the other chips.
BenchCase AllReduceCase(std::string name, const RingFunction& ring, uint32_t links,
                        uint64_t bytes) {
  const double sent = static_cast<double>(bytes) * (kChips - 1) / kChips;
  const double bound = 2 * (sent / (2 * links * kLinkRate) + (kChips - 1) * kStepClocks);
  return {std::move(name), "%", [=](std::chrono::nanoseconds) -> StatusOr<double> {
            ASSIGN_OR_RETURN(Ring* const opened, ring());
            ASSIGN_OR_RETURN(const double clocks, opened->Run(bytes, 1, 1, AllReduce));
            return 100 * bound / clocks;
          }};
}

BenchCase ClocksCase(std::string name, const RingFunction& ring, uint64_t bytes) {
  return {std::move(name), "clocks", [=](std::chrono::nanoseconds) -> StatusOr<double> {
            ASSIGN_OR_RETURN(Ring* const opened, ring());
            return opened->Run(bytes, 1, 1, AllReduce);
          }};
}

}  // namespace

std::vector<BenchCase> RingCases(const std::string& daemon, const std::string& folder) {
  constexpr uint64_t kMebibyte = 1 << 20;
  const RingFunction one = Opened(daemon, folder + "/ring1", 1);
  const RingFunction two = Opened(daemon, folder + "/ring2", 2);
  return {
      RateCase("ring.all_gather_1m_b_per_clock", one, kMebibyte, 1, kChips, Gather),
      RateCase("ring.reduce_scatter_1m_b_per_clock", one, kMebibyte, kChips, 1, ReduceScatter),
      AllReduceCase("ring.all_reduce_1m_percent", one, 1, kMebibyte),
      AllReduceCase("ring.all_reduce_4m_2_links_percent", two, 2, 4 * kMebibyte),
      ClocksCase("ring.all_reduce_4k_clocks", one, 4096),
  };
}

}  // namespace ttfd::bench
