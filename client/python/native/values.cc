// Python values as those of libttfd, and back.
#include "client/python/native/values.h"

#include <chrono>
#include <cstring>
#include <type_traits>

namespace ttfd::python {
namespace {

std::vector<uint32_t> WordsOf(const py::object& object) {
  if (object.is_none()) {
    return {};
  }
  const BytesView view(object, /*writable=*/false);
  std::vector<uint32_t> words(view.bytes().size() / sizeof(uint32_t));
  if (!words.empty()) {
    std::memcpy(words.data(), view.bytes().data(), words.size() * sizeof(uint32_t));
  }
  return words;
}

// A handle of the API as what requests take; it frees nothing.
template <typename Resource>
Resource Naming(uint64_t handle) {
  return Resource(nullptr, handle);
}

py::object ToPosition(const client::Position& position) {
  return py::module_::import("ttfd.types").attr("Position")(position.queue, position.value);
}

void AddArguments(const Arguments& given, client::LaunchRequest* launch) {
  const auto& [kernel, common, buffers, words_per_core, per_core] = given;
  launch->Common(kernel, common);
  for (const auto& [word, handle] : buffers) {
    launch->Address(kernel, word, client::Buffer(nullptr, handle, 0, 0));
  }
  if (words_per_core != 0) {
    launch->PerCore(kernel, words_per_core, WordsOf(per_core));
  }
}

// A class of values that Python reads: fields, and a repr of them all.
template <typename T>
class ValueClass {
 public:
  ValueClass(py::module_& module, const char* name, const char* description)
      : class_(module, name, description) {
    class_.attr("__module__") = "ttfd";
    class_.def("__repr__", [name = py::str(name), names = names_](const py::object& self) {
      py::list parts;
      for (const py::handle field : names) {
        parts.append(py::str("{}={!r}").format(field, self.attr(field)));
      }
      return py::str("ttfd.{}({})").format(name, py::str(", ").attr("join")(parts));
    });
  }

  // `get`: a member of T, or a function of it.
  template <typename Get>
  ValueClass& Field(const char* name, const Get& get) {
    names_.append(name);
    if constexpr (std::is_member_object_pointer_v<Get>) {
      class_.def_readonly(name, get);
    } else {
      class_.def_property_readonly(name, get);
    }
    return *this;
  }
  py::class_<T>& python() { return class_; }

 private:
  py::class_<T> class_;
  py::list names_;
};

void BindDevice(py::module_& module) {
  using client::DeviceInfo;
  const auto pair = [](client::Coordinate at) { return py::make_tuple(at.x, at.y); };
  ValueClass<client::DramBank>(module, "DramBank", "A bank of a card's DRAM: x and y of two tiles.")
      .Field("port", [pair](const client::DramBank& bank) { return pair(bank.port); })
      .Field("nearest_worker",
             [pair](const client::DramBank& bank) { return pair(bank.nearest_worker); });
  ValueClass<client::Neighbour>(module, "Neighbour",
                                "A link of a device to another device of the daemon.")
      .Field("channel", &client::Neighbour::channel)
      .Field("device", &client::Neighbour::device)
      .Field("peer_channel", &client::Neighbour::peer_channel)
      .Field("system", &client::Neighbour::system);
  ValueClass<DeviceInfo> device(
      module, "Device",
      "A card. Sizes in bytes; `*_alignment` says what offsets, sizes and "
      "pages must be multiples of.");
  device.Field("index", &DeviceInfo::index)
      .Field("board", &DeviceInfo::board)
      .Field("backend", [](const DeviceInfo& d) { return client::BackendName(d.backend); })
      .Field("grid_x", &DeviceInfo::grid_x)
      .Field("grid_y", &DeviceInfo::grid_y)
      .Field("dram_banks", &DeviceInfo::dram_banks)
      .Field("dram_bank_bytes", &DeviceInfo::dram_bank_bytes)
      .Field("dram_alignment", &DeviceInfo::dram_alignment)
      .Field("l1_bytes", &DeviceInfo::l1_bytes)
      .Field("l1_alignment", &DeviceInfo::l1_alignment)
      .Field("clock_hz", &DeviceInfo::clock_hz)
      .Field("circular_buffers", &DeviceInfo::circular_buffers)
      .Field("semaphores", &DeviceInfo::semaphores)
      .Field("argument_words", &DeviceInfo::argument_words)
      .Field("circular_buffer_bytes", &DeviceInfo::circular_buffer_bytes)
      .Field("transfer_alignment", &DeviceInfo::transfer_alignment)
      .Field("kernel_bytes", &DeviceInfo::kernel_bytes)
      .Field("iommu", &DeviceInfo::iommu)
      .Field("l1_base", &DeviceInfo::l1_base)
      .Field("dram_base", &DeviceInfo::dram_base)
      .Field("dram_bank_size", &DeviceInfo::dram_bank_size)
      .Field("worker_x", &DeviceInfo::worker_x)
      .Field("worker_y", &DeviceInfo::worker_y)
      .Field("banks", &DeviceInfo::banks)
      .Field("neighbours", &DeviceInfo::neighbours);
  device.python().def_property_readonly("workers", &DeviceInfo::workers, "Tiles that run kernels.");
}

void BindLimits(py::module_& module) {
  using client::Limits;
  ValueClass<Limits>(module, "Limits",
                     "What one session may use; exceeding one is RESOURCE_EXHAUSTED naming it. "
                     "None: no limit. weight, priority: the highest without role admin.")
      .Field("message_bytes", &Limits::message_bytes)
      .Field("chunk_bytes", &Limits::chunk_bytes)
      .Field("inline_bytes", &Limits::inline_bytes)
      .Field("commands_per_batch", &Limits::commands_per_batch)
      .Field("waits_per_batch", &Limits::waits_per_batch)
      .Field("queues", &Limits::queues)
      .Field("handles", &Limits::handles)
      .Field("dram_bytes", &Limits::dram_bytes)
      .Field("l1_bytes", &Limits::l1_bytes)
      .Field("transfer_bytes", &Limits::transfer_bytes)
      .Field("kernel_elf_bytes", &Limits::kernel_elf_bytes)
      .Field("sessions_per_user", &Limits::sessions_per_user)
      .Field("client_name_bytes", &Limits::client_name_bytes)
      .Field("trace_bytes", &Limits::trace_bytes)
      .Field("buffers", &Limits::buffers)
      .Field("kernels", &Limits::kernels)
      .Field("programs", &Limits::programs)
      .Field("kernel_bytes", &Limits::kernel_bytes)
      .Field("idle_ms", &Limits::idle_ms)
      .Field("lease_ms", &Limits::lease_ms)
      .Field("lease_idle_ms", &Limits::lease_idle_ms)
      .Field("lease_wait_ms", &Limits::lease_wait_ms)
      .Field("weight", &Limits::weight)
      .Field("priority", [](const Limits& l) { return client::PriorityName(l.priority); })
      .Field("command_bytes", &Limits::command_bytes)
      .Field("nested_messages", &Limits::nested_messages)
      .Field("unacknowledged_bytes", &Limits::unacknowledged_bytes)
      .Field("reconnect_timeout_ms", &Limits::reconnect_timeout_ms);
}

void BindPrint(py::module_& module) {
  using client::KernelPrint;
  ValueClass<KernelPrint> print(
      module, "KernelPrint",
      "One print of a kernel. Those of a processor of a tile come in their order.\n\n"
      "position: of the launch or replay. launch: of a trace, which of its launches. kernel: the "
      "name it was loaded with. x, y: the tile. text: without the newline at its end. lost: so "
      "many prints of the session before this one were not read in time, and dropped. `str()` "
      "makes the line that goes to standard error.");
  print.Field("position", [](const KernelPrint& p) { return ToPosition(p.position); })
      .Field("launch", &KernelPrint::launch)
      .Field("kernel", [](const KernelPrint& p) { return ToText(p.kernel); })
      .Field("x", [](const KernelPrint& p) { return p.core.x; })
      .Field("y", [](const KernelPrint& p) { return p.core.y; })
      .Field("processor", [](const KernelPrint& p) { return static_cast<int>(p.processor); })
      .Field("text", [](const KernelPrint& p) { return ToText(p.text); })
      .Field("lost", &KernelPrint::lost);
  print.python().def("__str__", [](const KernelPrint& p) {
    return py::str("[{} ({},{}) {}] {}")
        .format(ToText(p.kernel), p.core.x, p.core.y, client::ProcessorName(p.processor),
                ToText(p.text));
  });
}

void BindEnum(py::module_& module, const char* name, const py::dict& members,
              const char* description) {
  using namespace pybind11::literals;
  const py::object made =
      py::module_::import("enum").attr("IntEnum")(name, members, "module"_a = "ttfd");
  made.attr("__doc__") = description;
  module.attr(name) = made;
}

}  // namespace

BytesView::BytesView(const py::object& object, bool writable) {
  if (PyObject_GetBuffer(object.ptr(), &view_, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) {
    throw py::error_already_set();
  }
}

BytesView::~BytesView() { PyBuffer_Release(&view_); }

client::TlsOptions ToTls(const Tls& tls) {
  const auto& [ca, certificate, key, server_name, keepalive_ms] = tls;
  return {ca, certificate, key, server_name, std::chrono::milliseconds(keepalive_ms)};
}

std::vector<client::CoreRange> ToRanges(const std::vector<Range>& ranges) {
  std::vector<client::CoreRange> converted;
  for (const auto& [x0, y0, x1, y1] : ranges) {
    converted.push_back({x0, y0, x1, y1});
  }
  return converted;
}

client::LaunchRequest ToLaunch(const Launch& launch) {
  const auto& [program, arguments, timeout_ms] = launch;
  client::LaunchRequest request(Naming<client::Program>(program));
  for (const Arguments& given : arguments) {
    AddArguments(given, &request);
  }
  if (timeout_ms != 0) {
    request.Timeout(std::chrono::milliseconds(timeout_ms));
  }
  return request;
}

client::ReplayRequest ToReplay(uint64_t trace, const std::vector<Patch>& patches) {
  client::ReplayRequest request(client::Trace(nullptr, trace, 0));
  for (const auto& [launch, given] : patches) {
    client::LaunchRequest arguments;
    AddArguments(given, &arguments);
    request.Patch(launch, arguments);
  }
  return request;
}

client::ProgramBuilder ToProgram(const std::vector<KernelUse>& kernels,
                                 const std::vector<CircularBuffer>& circular_buffers,
                                 const std::vector<Semaphore>& semaphores) {
  client::ProgramBuilder builder;
  for (const auto& [handle, number, cores, callable, configured] : kernels) {
    const auto kernel = Naming<client::Kernel>(handle);
    const auto processor = static_cast<client::Processor>(number);
    if (callable) {
      builder.AddCallable(kernel, processor, ToRanges(cores), configured);
    } else {
      builder.AddKernel(kernel, processor, ToRanges(cores));
    }
  }
  for (const auto& [index, pages, page_bytes, cores, number, buffer] : circular_buffers) {
    const auto format = static_cast<client::DataFormat>(number);
    if (buffer) {
      builder.AddCircularBuffer(index, pages, page_bytes, ToRanges(cores), format,
                                client::Buffer(nullptr, *buffer, 0, 0));
    } else {
      builder.AddCircularBuffer(index, pages, page_bytes, ToRanges(cores), format);
    }
  }
  for (const auto& [index, initial, cores] : semaphores) {
    builder.AddSemaphore(index, initial, ToRanges(cores));
  }
  return builder;
}

py::str ToText(const std::string& text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (decoded == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::str>(decoded);
}

void BindValues(py::module_& module) {
  BindDevice(module);
  BindLimits(module);
  ValueClass<client::SessionClient>(module, "SessionClient", "A session and the client behind it.")
      .Field("session", &client::SessionClient::session)
      .Field("client_name",
             [](const client::SessionClient& client) { return ToText(client.client_name); })
      .Field("user", [](const client::SessionClient& client) { return ToText(client.user); })
      .Field("uid", &client::SessionClient::uid)
      .Field("pid", &client::SessionClient::pid);
  ValueClass<client::LeaseWait>(module, "LeaseWait",
                                "State of a lease request. Position 1 is next; 0: no lease was "
                                "requested, commands wait for one to end.")
      .Field("position", [](const client::LeaseWait& wait) { return wait.position; })
      .Field("holders", &client::LeaseWait::holders)
      .Field("more_holders", &client::LeaseWait::more_holders)
      .Field("expected", [](const client::LeaseWait& wait) {
        return std::chrono::duration<double>(wait.expected).count();
      });
  BindPrint(module);
  py::dict codes;
  for (int code = 0; code <= static_cast<int>(client::Code::kUnauthenticated); ++code) {
    codes[py::str(client::CodeName(static_cast<client::Code>(code)))] = code;
  }
  py::dict states;
  states["UNSPECIFIED"] = static_cast<int>(client::ExecutionState::kUnspecified);
  states["NOT_STARTED"] = static_cast<int>(client::ExecutionState::kNotStarted);
  states["COMPLETED"] = static_cast<int>(client::ExecutionState::kCompleted);
  states["UNKNOWN"] = static_cast<int>(client::ExecutionState::kUnknown);
  BindEnum(module, "Code", codes, "The canonical status codes of gRPC.");
  BindEnum(module, "ExecutionState", states, "What happened to a command that failed.");
}

py::object ToError(const client::Status& status) {
  using namespace pybind11::literals;
  const client::ErrorInfo& error = status.error();
  const py::object cause = error.cause.value != 0 ? ToPosition(error.cause) : py::none();
  return py::module_::import("ttfd.errors")
      .attr("Error")(static_cast<int>(error.code), ToText(error.message), "reason"_a = error.reason,
                     "field"_a = error.field, "cause"_a = cause, "limit"_a = error.limit,
                     "limit_value"_a = error.limit_value, "limit_used"_a = error.limit_used,
                     "hang_report"_a = error.hang_report, "retryable"_a = error.retryable,
                     "execution_state"_a = static_cast<int>(error.execution_state));
}

void Check(const client::Status& status) {
  if (PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  if (!status.ok()) {
    const py::object error = ToError(status);
    PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
    throw py::error_already_set();
  }
}

}  // namespace ttfd::python
