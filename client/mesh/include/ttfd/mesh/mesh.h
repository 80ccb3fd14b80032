// Chips as a mesh: rows and columns of cards of one daemon that are joined by Ethernet links, each with a session of
// its own under one lease, and operations that their workers carry out together over these links.
//
//   #include <ttfd/mesh/mesh.h>
//   using namespace ttfd;
//
//   auto mesh = mesh::Mesh::Connect({.shape = {1, 4}});
//   auto part = mesh->Allocate(1 << 20);                        // on every chip
//   for (uint32_t chip = 0; chip < mesh->chips(); ++chip) {
//     status = mesh->Write(*part, chip, bytes_of[chip]);
//   }
//   auto whole = mesh->Allocate(1 << 20, /*parts=*/4);
//   status = mesh->AllGather(*part, *whole, /*axis=*/1);        // every chip has all four parts
//   status = mesh->Read(*whole, 0, bytes);
//
// (A real program looks at every result.)
//
// Chip row * columns + column is in that row and column. Axis 0 is along the columns: it joins chips that differ in
// their row. Axis 1 is along the rows. These are NumPy's axes of an array of the mesh's shape.
//
// Sessions and their queues are ordinary ones, for programs of the caller's on each chip. Operations use up to two
// links between two neighbours, where all neighbours along the axis have so many. On every chip they run on workers
// (0, 0) and (2, 0) for the links of axis 0, (4, 0) and (6, 0) for those of axis 1, whose link ends 0 and 1 are the
// mesh's; sums also on rows 1 to 8 of the same column and the next one. A card whose grid does not have these workers
// refuses the operation.
//
// Sums of the same buffers on the same mesh repeat bit for bit, and are the same on every chip. The order of addition
// follows from the lines, whether they are closed, the number of links, and the sizes of buffers and pages
// (docs/meshes.md). Denormals count as 0, and what would be one is 0; a NaN of bfloat16 counts as infinity of its sign.
//
// A kernel of an operation waits for those on the neighbouring chips, for its kernel timeout at most. An operation that
// fails on one chip ends on those that wait for it: they are reset with it. After a failure the mesh refuses operations
// (FAILED_PRECONDITION); connect it again. Do so as well after a reset of one of its devices, which ends its links: the
// next operation fails.
//
// A mesh is used by one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ttfd/session.h"

namespace ttfd::mesh {

template <typename T>
using Result = client::Result<T>;
using client::Status;

struct Shape {
  uint32_t rows = 1;
  uint32_t columns = 1;
  bool operator==(const Shape&) const = default;
};

// The devices of the chips of a mesh.
struct Placement {
  Shape shape;
  std::vector<uint32_t> devices = {};  // by chip: indices of devices
  // By axis: the last chip of every line along it is linked with the first. Operations take half the time then, or
  // less. False where lines have fewer than three chips.
  bool closed[2] = {false, false};
};

// Finds devices whose links give the shape, low indices first, and prefers one with closed lines. Gives up after a
// bounded search, which finds whole rows and columns of a grid or torus. Links that kernels cannot use
// (Neighbour::system) do not count. `among`: indices of the devices to choose from; none: all. INVALID_ARGUMENT: there
// are not so many devices, or `among` is wrong. FAILED_PRECONDITION: none was found; the message names the devices that
// would need a link, and where their channels lead.
Result<Placement> FindPlacement(const std::vector<client::DeviceInfo>& devices, Shape shape,
                                std::span<const uint32_t> among = {});

// A buffer on every chip, interleaved in DRAM: `parts` parts of `part_bytes`, each in whole pages of its own. Part i
// begins at page i * pages_per_part().
struct MeshBuffer {
  std::vector<client::Buffer> buffers = {};  // by chip; with equal pages
  uint32_t parts = 0;
  uint64_t part_bytes = 0;

  uint64_t size_bytes() const { return parts * part_bytes; }  // on one chip
  uint32_t page_bytes() const { return buffers.front().page_bytes(); }
  uint64_t pages_per_part() const { return (part_bytes + page_bytes() - 1) / page_bytes(); }
  // Bytes of all pages, on one chip.
  uint64_t padded_bytes() const { return parts * pages_per_part() * page_bytes(); }
};

// Type of the numbers of a buffer, for operations that add.
enum class Element : uint32_t {
  kInt32,    // two's complement; sums are modulo 2^32
  kFloat32,  // each sum of two is rounded to the nearest number
  // Each sum is rounded to the nearest, halves away from zero; an AllReduce of less than 64 KiB adds all in Float32 and
  // rounds once.
  kBFloat16,
};

// From the begin of an operation's first kernel on a link's worker to the end of its last one there, in clocks of that
// worker. Those of different chips can be compared on a model without hazards only.
struct ClockSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct MeshOptions {
  Shape shape;
  std::vector<uint32_t> devices = {};  // to choose from; none: all of the daemon
  // Options of each session. Its device, lease devices and lease token are the mesh's.
  client::ConnectOptions session = {};
};

class Mesh {
 public:
  // Finds the devices, waits for the lease of all of them, opens the sessions and connects the links.
  static Result<Mesh> Connect(MeshOptions options);
  // A mesh of sessions that are open, by chip, each with the device that `placement` has (INVALID_ARGUMENT). All work
  // under one lease of these devices. Connects the links.
  // `timeout`: of Finish.
  static Result<Mesh> Create(std::vector<std::shared_ptr<client::Session>> sessions,
                             Placement placement,
                             std::chrono::milliseconds timeout = std::chrono::seconds(60));

  Mesh(Mesh&&) noexcept;
  Mesh& operator=(Mesh&&) noexcept;
  ~Mesh();

  const Placement& placement() const;
  uint32_t chips() const;
  // Chips along an axis (0 or 1).
  uint32_t length(uint32_t axis) const;
  client::Session& session(uint32_t chip);

  // Contents are zero. At least one part of one byte; less than 2^48 bytes on a chip.
  Result<MeshBuffer> Allocate(uint64_t part_bytes, uint32_t parts = 1);
  // All parts of one chip, one behind the other: buffer.size_bytes().
  Status Write(const MeshBuffer& buffer, uint32_t chip, std::span<const std::byte> bytes);
  Status Read(const MeshBuffer& buffer, uint32_t chip, std::span<std::byte> into);

  // Every chip gets the parts of all chips along the axis, in the order of these chips: `to` has length(axis) times the
  // parts of `from`, of the same size, in equal pages. The buffers are those of this mesh's sessions, a chip's two
  // different ones.
  Status AllGather(const MeshBuffer& from, const MeshBuffer& to, uint32_t axis);
  // The same, behind what is enqueued on the queues of the sessions; Finish waits for it.
  Status EnqueueAllGather(const MeshBuffer& from, const MeshBuffer& to, uint32_t axis);
  // Chip i of a line along the axis gets the sum, over all chips of the line, of the parts that belong to it: `from`
  // has length(axis) times the parts of `to`, of the same size, in equal pages, and those of chip i follow those of
  // chip i - 1. Parts and pages are whole elements. The buffers are those of this mesh's sessions, a chip's two
  // different ones.
  Status ReduceScatter(const MeshBuffer& from, const MeshBuffer& to, Element element,
                       uint32_t axis);
  Status EnqueueReduceScatter(const MeshBuffer& from, const MeshBuffer& to, Element element,
                              uint32_t axis);
  // Every chip gets the sum of all chips along the axis. `to` has the parts of `from`, in equal pages, or is the same
  // buffer.
  Status AllReduce(const MeshBuffer& from, const MeshBuffer& to, Element element, uint32_t axis);
  Status EnqueueAllReduce(const MeshBuffer& from, const MeshBuffer& to, Element element,
                          uint32_t axis);
  // Waits for everything that is enqueued on the sessions' queues, or until a chip has failed. DEADLINE_EXCEEDED with
  // reason WAIT: not within the time, or ConnectOptions::call_timeout. Of several errors it returns one that says why:
  // rather a fault than a hang of a chip that has waited for it.
  Status Finish();
  Status Finish(std::chrono::milliseconds timeout);
  // When the last operation over links ran that has ended, by chip, on the worker that took longest. Empty: there was
  // none. A chip that began early has waited for the others.
  Result<std::vector<ClockSpan>> Clocks();

 private:
  class State;
  explicit Mesh(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ttfd::mesh
