// Files of tensors, for ttfd.safetensors.
#include "ttfd/tensor/safetensors.h"

#include <cstdint>
#include <string>

#include "client/python/native/module.h"
#include "client/python/native/values.h"

namespace ttfd::python {
namespace {

using tensor::Safetensors;

Safetensors Open(const std::string& path) {
  const py::gil_scoped_release release;
  client::Result<Safetensors> file = Safetensors::Open(path);
  const py::gil_scoped_acquire acquire;
  return Take(std::move(file));
}

// REQUIRES a name that the file has.
const Safetensors::Entry& EntryOf(const Safetensors& file, const std::string& name) {
  return *file.Find(name);
}

// Into an array of float32 with as many elements.
void Read(const Safetensors& file, const std::string& name, const py::object& array) {
  const BytesView view(array, /*writable=*/true);
  const std::span<std::byte> bytes = view.writable();
  const std::span<float> elements(reinterpret_cast<float*>(bytes.data()),
                                  bytes.size() / sizeof(float));
  client::Status status;
  {
    const py::gil_scoped_release release;
    status = file.Read(EntryOf(file, name), elements);
  }
  Check(status);
}

}  // namespace

void BindSafetensors(py::module_& module) {
  py::class_<Safetensors>(module, "Safetensors")
      .def(py::init(&Open))
      .def("names",
           [](const Safetensors& file) {
             py::list names;
             for (const Safetensors::Entry& entry : file.entries()) names.append(entry.name);
             return names;
           })
      .def("shape",
           [](const Safetensors& file, const std::string& name) {
             return py::tuple(py::cast(EntryOf(file, name).shape));
           })
      .def("dtype", [](const Safetensors& file,
                       const std::string& name) { return EntryOf(file, name).dtype; })
      .def("read", &Read);
}

}  // namespace ttfd::python
