// The Python module ttfd._native: libttfd for the package ttfd, which checks what users pass and documents
// what they call (client/python/ttfd). ttfd/_native.pyi has the signatures.
#include "client/python/native/module.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/python/native/session.h"
#include "client/python/native/values.h"
#include "ttfd/tiles.h"

namespace ttfd::python {
namespace {

using std::chrono::milliseconds;

// A handle, freed with the object. That takes only the lock of libttfd under which nothing asks for the GIL,
// so the garbage collector may do it on any thread.
struct Resource {
  explicit Resource(client::Resource resource, std::string about = {})
      : handle(resource.handle()), owned(std::move(resource)), details(std::move(about)) {}
  void Free() {
    handle = 0;
    owned = client::Resource();
  }

  uint64_t handle;
  client::Resource owned;
  std::string details;  // for repr, after the handle
};

// "<ttfd.Buffer 3: 4096 bytes in pages of 1024>".
py::str Describe(const py::object& self) {
  const auto& resource = self.cast<const Resource&>();
  const py::str name = py::type::of(self).attr("__name__");
  return resource.handle == 0
             ? py::str("<ttfd.{} freed>").format(name)
             : py::str("<ttfd.{} {}{}>").format(name, resource.handle, resource.details);
}

template <typename T>
std::unique_ptr<Resource> Owning(client::Result<T> result) {
  return std::make_unique<Resource>(Take(std::move(result)));
}

uint64_t ValueOf(const client::Result<client::Position>& position) {
  Check(position.status());
  return position->value;
}

// ---- Sessions.

// Tiles, milliseconds, devices; 0: the daemon's, the session's.
using Lease = std::tuple<std::vector<Range>, int64_t, std::vector<uint32_t>>;
// Device, channel, x, y, end.
using LinkPlace = std::array<uint32_t, 5>;
using LinkPairs = std::vector<std::pair<LinkPlace, LinkPlace>>;

std::vector<client::LinkConnection> ToConnections(const LinkPairs& links) {
  const auto place = [](const LinkPlace& at) {
    return client::LinkPlace{at[0], at[1], {at[2], at[3]}, at[4]};
  };
  std::vector<client::LinkConnection> connections;
  for (const auto& [a, b] : links) connections.push_back({place(a), place(b)});
  return connections;
}

std::shared_ptr<Session> Connect(const std::string& address, const std::string& client_name,
                                 const std::optional<uint32_t>& device, uint32_t weight,
                                 uint8_t priority, int64_t connect_ms, int64_t call_ms,
                                 uint32_t batch_commands, const Tls& tls,
                                 const std::optional<Lease>& lease, const std::string& lease_token,
                                 const py::object& on_waiting, int64_t reconnect_ms) {
  client::ConnectOptions options;
  options.address = address;
  options.client_name = client_name;
  options.device = device;
  options.weight = weight;
  options.priority = static_cast<client::Priority>(priority);
  options.connect_timeout = milliseconds(connect_ms);
  options.call_timeout = milliseconds(call_ms);
  options.batch_commands = batch_commands;
  options.reconnect_timeout = milliseconds(reconnect_ms);
  options.tls = ToTls(tls);
  if (lease.has_value()) {
    const auto& [workers, wait_ms, devices] = *lease;
    options.lease = client::LeaseOptions{.workers = ToRanges(workers), .devices = devices};
    if (wait_ms != 0) {
      options.lease->wait = milliseconds(wait_ms);
    }
  }
  options.lease_token = lease_token;
  return Session::Connect(std::move(options), on_waiting);
}

// Id, version of the daemon, devices, index of the session's, limits, lease token.
py::tuple DescribeSession(const Session& session) {
  struct Welcome {
    uint64_t id;
    std::string version;
    std::vector<client::DeviceInfo> devices;
    uint32_t device;
    client::Limits limits;
    std::string lease_token;
  };
  const client::Session& client = session.client();
  const Welcome welcome = session.Call([&] {
    return Welcome{client.id(),           client.daemon_version(), client.devices(),
                   client.device().index, client.limits(),         client.lease_token()};
  });
  return py::make_tuple(welcome.id, welcome.version, welcome.devices, welcome.device,
                        welcome.limits, welcome.lease_token);
}

void Close(Session& session) {
  const client::Status status = session.Call([&] { return session.client().Close(); });
  session.Abandon();
  Check(status);
}

void BindSession(py::module_& module) {
  py::class_<Session, std::shared_ptr<Session>>(module, "Session")
      .def("describe", &DescribeSession)
      .def_property_readonly("id",
                             [](Session& s) { return s.Call([&] { return s.client().id(); }); })
      .def_property_readonly(
          "address", [](Session& s) { return s.Call([&] { return s.client().address(); }); })
      .def_property_readonly(
          "reconnects", [](Session& s) { return s.Call([&] { return s.client().reconnects(); }); })
      .def("on_print", &Session::OnPrint)
      .def("close", &Close)
      .def("abandon", &Session::Abandon)
      .def("queue",
           [](const std::shared_ptr<Session>& s) {
             return Queue{s, s->Call([&] { return s->client().queue(); })};
           })
      .def("open_queue",
           [](const std::shared_ptr<Session>& s, bool transfer, const std::vector<Range>& workers) {
             client::QueueOptions options;
             options.kind = transfer ? client::QueueKind::kTransfer : client::QueueKind::kCompute;
             options.workers = ToRanges(workers);
             return Queue{s, Take(s->Call([&] { return s->client().OpenQueue(options); }))};
           })
      .def("allocate_dram",
           [](Session& s, uint64_t size, uint32_t page_bytes, int32_t bank) {
             return Owning(s.Call([&] {
               return s.client().AllocateDram(size, {page_bytes, bank});
             }));
           })
      .def("allocate_l1",
           [](Session& s, uint64_t size, uint32_t page_bytes, const std::vector<Range>& cores) {
             const client::L1Options options{page_bytes, ToRanges(cores)};
             return Owning(s.Call([&] { return s.client().AllocateL1(size, options); }));
           })
      .def("allocate_sharded",
           [](Session& s, uint64_t size, uint32_t page_bytes, const std::vector<Range>& cores,
              uint32_t row_pages, uint32_t shard_rows, uint32_t shard_row_pages) {
             const client::ShardOptions options{page_bytes, ToRanges(cores), row_pages, shard_rows,
                                                shard_row_pages};
             return Owning(s.Call([&] { return s.client().AllocateSharded(size, options); }));
           })
      .def("load_kernel",
           [](Session& s, const py::object& elf, const std::string& name) {
             const BytesView view(elf, /*writable=*/false);
             return Owning(s.Call([&] { return s.client().LoadKernel(view.bytes(), name); }));
           })
      .def("load_kernel_file",
           [](Session& s, const std::string& path, const std::string& name) {
             return Owning(s.Call([&] { return s.client().LoadKernelFile(path, name); }));
           })
      .def("create_program", [](Session& s, const std::vector<KernelUse>& kernels,
                                const std::vector<CircularBuffer>& circular_buffers,
                                const std::vector<Semaphore>& semaphores) {
        const client::ProgramBuilder builder = ToProgram(kernels, circular_buffers, semaphores);
        return Owning(s.Call([&] { return s.client().CreateProgram(builder); }));
      });
}

// ---- Queues.

// A buffer without an owner, which the calls of libttfd take for one of this handle.
client::Buffer Naming(uint64_t handle) { return client::Buffer(nullptr, handle, 0, 0); }

void Write(Queue& q, uint64_t buffer, uint64_t offset, const py::object& array) {
  const BytesView view(array, /*writable=*/false);
  Check(q.Call([&] { return q.client.Write(Naming(buffer), offset, view.bytes()); }));
}

uint64_t EnqueueWrite(Queue& q, uint64_t buffer, uint64_t offset, const py::object& array) {
  const BytesView view(array, /*writable=*/false);
  return ValueOf(
      q.Call([&] { return q.client.EnqueueWrite(Naming(buffer), offset, view.bytes()); }));
}

void Read(Queue& q, uint64_t buffer, uint64_t offset, const py::object& array) {
  const BytesView view(array, /*writable=*/true);
  Check(q.Call([&] { return q.client.Read(Naming(buffer), offset, view.writable()); }));
}

uint64_t EnqueueRead(Queue& q, uint64_t buffer, uint64_t offset, const py::object& array) {
  auto view = std::make_unique<BytesView>(array, /*writable=*/true);
  q.session->DropCompleted(q.client);
  const client::Result<client::Position> position =
      q.Call([&] { return q.client.EnqueueRead(Naming(buffer), offset, view->writable()); });
  if (position.ok()) {  // also if a signal handler has raised
    q.session->Keep(q.client, position->value, std::move(view));
  }
  return ValueOf(position);
}

// Without a timeout: that of the session's calls.
void Wait(Queue& q, uint32_t queue, uint64_t value, std::optional<int64_t> timeout_ms) {
  const client::Position position{queue, value};
  const client::Status status = q.Call([&] {
    return timeout_ms.has_value() ? q.client.Wait(position, milliseconds(*timeout_ms))
                                  : q.client.Wait(position);
  });
  q.session->DropCompleted(q.client);
  Check(status);
}

std::unique_ptr<Resource> RecordTrace(Queue& q, const std::vector<Launch>& launches) {
  std::vector<client::LaunchRequest> requests;
  for (const Launch& launch : launches) {
    requests.push_back(ToLaunch(launch));
  }
  return Owning(q.Call([&] { return q.client.RecordTrace(requests); }));
}

void BindCommands(py::class_<Queue>& queue) {
  queue.def("_write", &Write)
      .def("_enqueue_write", &EnqueueWrite)
      .def("_read", &Read)
      .def("_enqueue_read", &EnqueueRead)
      .def("_fill",
           [](Queue& q, uint64_t buffer, uint64_t offset, uint64_t size, uint32_t word) {
             Check(q.Call([&] { return q.client.Fill(Naming(buffer), offset, size, word); }));
           })
      .def("_launch",
           [](Queue& q, const Launch& launch) {
             const client::LaunchRequest request = ToLaunch(launch);
             Check(q.Call([&] { return q.client.Launch(request); }));
           })
      .def("_enqueue_launch",
           [](Queue& q, const Launch& launch) {
             const client::LaunchRequest request = ToLaunch(launch);
             return ValueOf(q.Call([&] { return q.client.EnqueueLaunch(request); }));
           })
      .def("_record_trace", &RecordTrace)
      .def("_replay",
           [](Queue& q, uint64_t trace, const std::vector<Patch>& patches) {
             const client::ReplayRequest request = ToReplay(trace, patches);
             Check(q.Call([&] { return q.client.Replay(request); }));
           })
      .def("_enqueue_replay",
           [](Queue& q, uint64_t trace, const std::vector<Patch>& patches) {
             const client::ReplayRequest request = ToReplay(trace, patches);
             return ValueOf(q.Call([&] { return q.client.EnqueueReplay(request); }));
           })
      .def("_connect_links",
           [](Queue& q, const LinkPairs& links) {
             const auto connections = ToConnections(links);
             Check(q.Call([&] { return q.client.ConnectLinks(connections); }));
           })
      .def("_enqueue_connect_links",
           [](Queue& q, const LinkPairs& links) {
             const auto connections = ToConnections(links);
             return ValueOf(q.Call([&] { return q.client.EnqueueConnectLinks(connections); }));
           })
      .def("_enqueue_barrier",
           [](Queue& q) { return ValueOf(q.Call([&] { return q.client.EnqueueBarrier(); })); });
}

void BindQueue(py::module_& module) {
  py::class_<Queue> queue(module, "Queue");
  BindCommands(queue);
  queue.def(py::init<const Queue&>())
      .def_property_readonly("id", [](Queue& q) { return q.client.id(); })
      .def_property_readonly(
          "submitted", [](Queue& q) { return q.Call([&] { return q.client.submitted(); }); },
          "Value of the last command enqueued.")
      .def_property_readonly(
          "completed", [](Queue& q) { return q.Call([&] { return q.client.completed(); }); },
          "Value of the last command known to have ended.")
      .def_property_readonly(
          "error",
          [](Queue& q) -> py::object {
            const client::Status status = q.Call([&] { return q.client.error(); });
            return status.ok() ? py::none() : ToError(status);
          },
          "What has failed the queue: an Error, or None.")
      .def("_after",
           [](Queue& q, const std::vector<std::pair<uint32_t, uint64_t>>& given) {
             std::vector<client::Position> positions;
             for (const auto& [id, value] : given) {
               positions.push_back({id, value});
             }
             Check(q.Call([&] { return q.client.After(positions); }));
           })
      .def(
          "flush", [](Queue& q) { Check(q.Call([&] { return q.client.Flush(); })); },
          "Sends what has been enqueued.")
      .def(
          "finish", [](Queue& q) { Wait(q, q.client.id(), q.client.submitted(), std::nullopt); },
          "Waits for everything enqueued so far.")
      .def("_wait", &Wait)
      .def(
          "clear_error", [](Queue& q) { Check(q.Call([&] { return q.client.ClearError(); })); },
          "Opens a failed queue again.")
      .def("_cancel", [](Queue& q, uint64_t from_value) {
        Check(q.Call([&] { return q.client.Cancel(from_value); }));
      });
}

// ---- Tiles. `shape`: matrices, rows, columns; the arrays have their sizes.

using Shape = std::tuple<size_t, uint32_t, uint32_t>;

void CopyTo(std::span<std::byte> to, size_t index, std::span<const std::byte> from) {
  std::memcpy(to.data() + index * from.size(), from.data(), from.size());
}

void ToTiles(const py::object& numbers, const Shape& shape, uint8_t format,
             const py::object& into) {
  const BytesView from(numbers, /*writable=*/false);
  const BytesView to(into, /*writable=*/true);
  const auto& [matrices, rows, columns] = shape;
  const size_t size = size_t{rows} * columns;
  const std::span values(reinterpret_cast<const float*>(from.bytes().data()), matrices * size);
  Check(WithoutGil([&, rows = rows, columns = columns, matrices = matrices] {
    for (size_t i = 0; i < matrices; ++i) {
      const auto tiles = client::ToTiles(values.subspan(i * size, size), rows, columns,
                                         static_cast<client::DataFormat>(format));
      if (!tiles.ok()) {
        return tiles.status();
      }
      CopyTo(to.writable(), i, *tiles);
    }
    return client::Status();
  }));
}

void FromTiles(const py::object& tiles, const Shape& shape, uint8_t format,
               const py::object& into) {
  const BytesView from(tiles, /*writable=*/false);
  const BytesView to(into, /*writable=*/true);
  const auto& [matrices, rows, columns] = shape;
  const size_t size = from.bytes().size() / matrices;
  Check(WithoutGil([&, rows = rows, columns = columns, matrices = matrices] {
    for (size_t i = 0; i < matrices; ++i) {
      const auto numbers = client::FromTiles(from.bytes().subspan(i * size, size), rows, columns,
                                             static_cast<client::DataFormat>(format));
      if (!numbers.ok()) {
        return numbers.status();
      }
      CopyTo(to.writable(), i, std::as_bytes(std::span(*numbers)));
    }
    return client::Status();
  }));
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.attr("__version__") = TTFD_VERSION;
  BindValues(module);
  py::class_<Resource>(
      module, "Resource",
      "A handle of a session. Freed by `free`, at the end of a `with` block, when "
      "collected, or with its session.\n\nMemory returns once the commands sent "
      "before have ended, so a buffer may be freed while launches that use it run.")
      .def(py::init([](Resource& owner, const std::string& details) {
        return Resource(std::move(owner.owned), details);
      }))
      // A handle that another owner frees.
      .def(py::init([](uint64_t handle) { return Resource(client::Resource(nullptr, handle)); }))
      .def("__repr__", &Describe)
      .def_readwrite("handle", &Resource::handle)
      .def("free", &Resource::Free, "Gives the handle back; it is unusable from here.")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__", [](Resource& r, const py::args&) { r.Free(); });
  BindSession(module);
  BindQueue(module);
  BindTensors(module);
  BindSafetensors(module);
  BindCompiledPrograms(module);
  BindGraphs(module);
  BindMeshes(module);
  module.def("connect", &Connect);
  module.def("first_cores", [](uint32_t grid_x, uint32_t count) {
    std::vector<Range> ranges;
    for (const client::CoreRange& r : client::FirstCores(grid_x, count)) {
      ranges.push_back({r.x0, r.y0, r.x1, r.y1});
    }
    return ranges;
  });
  module.def("to_tiles", &ToTiles);
  module.def("from_tiles", &FromTiles);
  py::module_::import("atexit").attr("register")(py::cpp_function(&EndSessionsAtExit));
}

}  // namespace ttfd::python
