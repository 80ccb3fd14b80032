// Meshes of cards, for ttfd.mesh.
#include "ttfd/mesh/mesh.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "client/python/native/in_session.h"
#include "client/python/native/module.h"
#include "client/python/native/values.h"
#include "ttfd/admin.h"

namespace ttfd::python {
namespace {

using Buffers = InSession<mesh::MeshBuffer>;
// Rows, columns.
using Chips = std::pair<uint32_t, uint32_t>;
// Devices by chip; whether the lines along each axis are closed.
using Places = std::pair<std::vector<uint32_t>, std::pair<bool, bool>>;

// A mesh and its sessions, for one thread at a time.
class Mesh {
 public:
  Mesh(std::vector<std::shared_ptr<Session>> sessions, mesh::Mesh mesh)
      : sessions_(std::move(sessions)), mesh_(sessions_.front(), std::move(mesh)) {}

  // Calls `function` with the mesh, without the GIL.
  template <typename Function>
  auto Call(const Function& function) {
    return mesh_.Call([&] {
      const std::scoped_lock lock(mutex_);
      return function(*mesh_);
    });
  }
  const std::shared_ptr<Session>& session() const { return mesh_.session(); }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Session>> sessions_;
  InSession<mesh::Mesh> mesh_;
};

std::unique_ptr<Mesh> MakeMesh(const std::vector<std::shared_ptr<Session>>& sessions,
                               const Chips& shape, const Places& places) {
  if (sessions.empty()) {
    Check(client::Status(client::Code::kInvalidArgument, "a mesh has one session at least"));
  }
  std::vector<std::shared_ptr<client::Session>> clients;
  for (const auto& session : sessions) clients.push_back(session->shared_client());
  const mesh::Placement placement{.shape = {shape.first, shape.second},
                                  .devices = places.first,
                                  .closed = {places.second.first, places.second.second}};
  return std::make_unique<Mesh>(sessions, Take(sessions.front()->Call([&] {
                                  return mesh::Mesh::Create(std::move(clients), placement);
                                })));
}

Places FindPlacement(const std::string& address, int64_t connect_ms, const Tls& tls,
                     const Chips& shape, const std::vector<uint32_t>& among) {
  const auto devices = Take(WithoutGil([&] {
    return client::Admin::Connect(address, std::chrono::milliseconds(connect_ms), ToTls(tls))
        .ListDevices();
  }));
  const mesh::Placement found =
      Take(mesh::FindPlacement(devices, {shape.first, shape.second}, among));
  return {found.devices, {found.closed[0], found.closed[1]}};
}

void BindBuffers(py::module_& module) {
  py::class_<Buffers>(module, "MeshBuffer")
      .def_property_readonly("parts", [](const Buffers& b) { return b->parts; })
      .def_property_readonly("part_bytes", [](const Buffers& b) { return b->part_bytes; })
      .def_property_readonly("page_bytes", [](const Buffers& b) { return b->page_bytes(); })
      .def("handle", [](const Buffers& b, size_t chip) { return b->buffers.at(chip).handle(); })
      .def("buffer_bytes",
           [](const Buffers& b, size_t chip) { return b->buffers.at(chip).size_bytes(); });
}

void BindSums(py::class_<Mesh>& bound) {
  bound
      .def("enqueue_reduce_scatter",
           [](Mesh& m, const Buffers& from, const Buffers& to, mesh::Element element,
              uint32_t axis) {
             Check(m.Call([&](mesh::Mesh& mesh) {
               return mesh.EnqueueReduceScatter(*from, *to, element, axis);
             }));
           })
      .def("enqueue_all_reduce", [](Mesh& m, const Buffers& from, const Buffers& to,
                                    mesh::Element element, uint32_t axis) {
        Check(m.Call(
            [&](mesh::Mesh& mesh) { return mesh.EnqueueAllReduce(*from, *to, element, axis); }));
      });
}

}  // namespace

void BindMeshes(py::module_& module) {
  BindBuffers(module);
  py::enum_<mesh::Element>(module, "MeshElement")
      .value("INT32", mesh::Element::kInt32)
      .value("FLOAT32", mesh::Element::kFloat32)
      .value("BFLOAT16", mesh::Element::kBFloat16);
  module.def("find_placement", &FindPlacement);
  py::class_<Mesh> bound(module, "Mesh");
  BindSums(bound);
  bound.def(py::init(&MakeMesh))
      .def("allocate",
           [](Mesh& m, uint64_t part_bytes, uint32_t parts) {
             return Buffers(
                 m.session(),
                 Take(m.Call([&](mesh::Mesh& mesh) { return mesh.Allocate(part_bytes, parts); })));
           })
      .def("write",
           [](Mesh& m, const Buffers& buffer, uint32_t chip, const py::object& array) {
             const BytesView view(array, /*writable=*/false);
             Check(
                 m.Call([&](mesh::Mesh& mesh) { return mesh.Write(*buffer, chip, view.bytes()); }));
           })
      .def("read",
           [](Mesh& m, const Buffers& buffer, uint32_t chip, const py::object& array) {
             const BytesView view(array, /*writable=*/true);
             Check(m.Call(
                 [&](mesh::Mesh& mesh) { return mesh.Read(*buffer, chip, view.writable()); }));
           })
      .def("enqueue_all_gather",
           [](Mesh& m, const Buffers& from, const Buffers& to, uint32_t axis) {
             Check(
                 m.Call([&](mesh::Mesh& mesh) { return mesh.EnqueueAllGather(*from, *to, axis); }));
           })
      // False: not within the time. Python handles signals between calls.
      .def("finish",
           [](Mesh& m, int64_t timeout_ms) {
             const client::Status status = m.Call([timeout_ms](mesh::Mesh& mesh) {
               return mesh.Finish(std::chrono::milliseconds(timeout_ms));
             });
             if (status.reason() == "WAIT") return false;
             Check(status);
             return true;
           })
      .def("clocks", [](Mesh& m) {
        std::vector<std::pair<uint64_t, uint64_t>> spans;
        for (const mesh::ClockSpan& span :
             Take(m.Call([](mesh::Mesh& mesh) { return mesh.Clocks(); }))) {
          spans.emplace_back(span.begin, span.end);
        }
        return spans;
      });
}

}  // namespace ttfd::python
