// Compiled programs, for ttfd.ttmlir.
#include <chrono>
#include <string>
#include <vector>

#include "client/python/native/module.h"
#include "client/python/native/tensor.h"
#include "ttfd/ttmlir/submit.h"
#include "ttfd/ttmlir/system_description.h"

namespace ttfd::python {
namespace {

namespace tm = ttmlir;

tm::Binary Load(const std::string& path, const std::string& profiles) {
  const py::gil_scoped_release release;
  client::Result<tm::Binary> binary = tm::Binary::Load(path, {.profiles = profiles});
  const py::gil_scoped_acquire acquire;
  return Take(std::move(binary));
}

void WriteDescription(const client::DeviceInfo& device, const std::string& path,
                      const std::string& schema, const std::string& profiles) {
  const py::gil_scoped_release release;
  const client::Status status =
      tm::WriteSystemDescription(device, path, {.profiles = profiles, .schema = schema});
  const py::gil_scoped_acquire acquire;
  Check(status);
}

py::str Text(const std::string& text) { return ToText(text); }

// `card` and `inputs` are those of ttfd.tensor; so are the outputs.
py::list Submit(const tm::Binary& binary, const py::object& card, size_t program,
                const std::vector<py::object>& inputs, bool allow_native, double native_s,
                uint64_t native_bytes) {
  const auto& native = card.attr("_native").cast<const Card&>();
  std::vector<tt::Tensor> tensors;
  for (const py::object& input : inputs) {
    tensors.push_back(**input.attr("_native").cast<const Tensor*>());
  }
  tm::SubmitOptions options;
  options.allow_native = allow_native;
  if (!(native_s > 0 && native_s <= 86'400)) {
    throw py::value_error("native_s must be above 0 and at most 86,400");
  }
  options.native_time = std::chrono::milliseconds(static_cast<int64_t>(native_s * 1000));
  options.native_memory_bytes = native_bytes;
  client::Result<std::vector<tt::Tensor>> made = native.Call([&] {
    client::Result<std::vector<tt::Tensor>> outputs =
        tm::Submit(*native, binary, program, tensors, options);
    tensors.clear();
    return outputs;
  });
  const py::object wrap = py::module_::import("ttfd.tensor").attr("Tensor");
  py::list outputs;
  for (tt::Tensor& output : Take(std::move(made))) {
    outputs.append(wrap(Own(native.session(), std::move(output)), card));
  }
  return outputs;
}

template <typename Class, typename Member>
void AddText(py::class_<Class>* bound, const char* name, Member member) {
  bound->def_property_readonly(name, [member](const Class& one) { return Text(one.*member); });
}

void BindListing(py::module_& module) {
  py::class_<tm::TensorInfo> tensor(module, "TensorInfo");
  tensor.def_readonly("id", &tm::TensorInfo::id).def_readonly("shape", &tm::TensorInfo::shape);
  AddText(&tensor, "dtype", &tm::TensorInfo::dtype);
  AddText(&tensor, "layout", &tm::TensorInfo::layout);
  AddText(&tensor, "memory", &tm::TensorInfo::memory);
  tensor.def("__repr__", [](const tm::TensorInfo& one) { return Text(one.ToString()); });
  py::class_<tm::OperationInfo> operation(module, "OperationInfo");
  operation.def_readonly("results", &tm::OperationInfo::results)
      .def_readonly("operands", &tm::OperationInfo::operands)
      .def_property_readonly("attributes", [](const tm::OperationInfo& one) {
        py::dict attributes;
        for (const auto& [name, value] : one.attributes) attributes[Text(name)] = Text(value);
        return attributes;
      });
  AddText(&operation, "type", &tm::OperationInfo::type);
  AddText(&operation, "location", &tm::OperationInfo::location);
  py::class_<tm::ProgramInfo> program(module, "ProgramInfo");
  AddText(&program, "name", &tm::ProgramInfo::name);
  program.def_readonly("is_private", &tm::ProgramInfo::is_private)
      .def_readonly("operations", &tm::ProgramInfo::operations)
      .def_readonly("mesh_shape", &tm::ProgramInfo::mesh_shape)
      .def_readonly("inputs", &tm::ProgramInfo::inputs)
      .def_readonly("outputs", &tm::ProgramInfo::outputs)
      .def_readonly("native_bytes", &tm::ProgramInfo::native_bytes);
}

}  // namespace

void BindCompiledPrograms(py::module_& module) {
  BindListing(module);
  module.def("write_system_description", &WriteDescription, py::arg("device"), py::arg("path"),
             py::arg("schema") = "", py::arg("profiles") = "");
  py::class_<tm::Binary>(module, "Binary")
      .def(py::init(&Load), py::arg("path"), py::arg("profiles") = "")
      .def_property_readonly("kind", [](const tm::Binary& one) { return tm::KindName(one.kind()); })
      .def_property_readonly("version", &tm::Binary::version)
      .def_property_readonly("schema_hash", &tm::Binary::schema_hash)
      .def_property_readonly("git_hash", [](const tm::Binary& one) { return Text(one.git_hash()); })
      .def_property_readonly("programs", &tm::Binary::programs)
      .def("operations", &tm::Binary::Operations, py::arg("program") = 0)
      .def(
          "operations_json",
          [](const tm::Binary& one, size_t program) { return Text(one.OperationsAsJson(program)); },
          py::arg("program") = 0)
      .def("system_json", [](const tm::Binary& one) { return Text(one.SystemAsJson()); })
      .def(
          "problems",
          [](const tm::Binary& one, size_t program, bool allow_native) {
            py::list problems;
            for (const tm::Problem& problem :
                 tm::ProblemsOf(one, program, {.allow_native = allow_native})) {
              problems.append(Text(problem.text));
            }
            return problems;
          },
          py::arg("program") = 0, py::arg("allow_native") = false)
      .def(
          "python",
          [](const tm::Binary& one, size_t program) {
            return Text(Take(tm::PythonOf(one, program)));
          },
          py::arg("program") = 0)
      .def("submit", &Submit, py::arg("card"), py::arg("program"), py::arg("inputs"), py::kw_only(),
           py::arg("allow_native") = false, py::arg("native_s") = 10.0,
           py::arg("native_bytes") = uint64_t{1} << 30);
}

}  // namespace ttfd::python
