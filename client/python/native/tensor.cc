// Tensors, cards, recordings and the table of operations, for ttfd.tensor.
#include "client/python/native/tensor.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/python/native/graph.h"
#include "client/python/native/module.h"
#include "ttfd/tensor/apply.h"

namespace ttfd::python {
namespace {

std::unique_ptr<Card> OpenCard(const std::shared_ptr<Session>& session,
                               const std::vector<Range>& cores, uint32_t launch_products) {
  tt::CardOptions options;
  options.cores = ToRanges(cores);
  options.launch_products = launch_products;
  return std::make_unique<Card>(
      session,
      Take(session->Call([&] { return tt::Card::In(session->shared_client(), options); })));
}

// Elements of 32 bits.
template <typename Element, typename Bytes>
std::span<Element> Elements(const Bytes& bytes) {
  return {reinterpret_cast<Element*>(bytes.data()), bytes.size() / sizeof(Element)};
}

// The array has uint32 for kUInt32 and float32 for other types.
std::unique_ptr<Tensor> FromHost(const Card& card, const py::object& array,
                                 std::vector<uint32_t> extents, uint8_t dtype, uint8_t layout) {
  const BytesView view(array, /*writable=*/false);
  return Own(card.session(), card.Call([&] {
    tt::Shape shape(std::move(extents));
    const auto type = static_cast<tt::DType>(dtype);
    const auto order = static_cast<tt::Layout>(layout);
    return type == tt::DType::kUInt32
               ? card->FromHost(Elements<const uint32_t>(view.bytes()), std::move(shape), order)
               : card->FromHost(Elements<const float>(view.bytes()), std::move(shape), type, order);
  }));
}

void ToHost(const Tensor& tensor, const py::object& array) {
  const BytesView view(array, /*writable=*/true);
  Check(tensor.Call([&] {
    return tensor->dtype() == tt::DType::kUInt32
               ? tensor->ToHost(Elements<uint32_t>(view.writable()))
               : tensor->ToHost(Elements<float>(view.writable()));
  }));
}

// REQUIRES an input.
std::vector<std::unique_ptr<Tensor>> Apply(const std::string& name,
                                           const std::vector<const Tensor*>& given,
                                           const tt::Attributes& attributes) {
  std::vector<tt::Tensor> inputs;
  for (const Tensor* const tensor : given) {
    inputs.push_back(**tensor);
  }
  const std::shared_ptr<Session>& session = given.at(0)->session();
  std::vector<tt::Tensor> outputs = session->Call([&] {
    std::vector<tt::Tensor> made = tt::Apply(name, inputs, attributes);
    inputs.clear();
    return made;
  });
  std::vector<std::unique_ptr<Tensor>> owned;
  for (tt::Tensor& output : outputs) {
    owned.push_back(Own(session, std::move(output)));
  }
  return owned;
}

// Name, inputs as (name, optional, repeated), attributes as (name, standard value, description), description.
py::list Operations() {
  py::list operations;
  for (const tt::OperationInfo& info : tt::Operations()) {
    py::list inputs;
    for (const auto& input : info.inputs) {
      inputs.append(py::make_tuple(input.name, input.optional, input.repeated));
    }
    py::list attributes;
    for (const auto& attribute : info.attributes) {
      attributes.append(py::make_tuple(attribute.name, attribute.standard, attribute.doc));
    }
    operations.append(py::make_tuple(info.name, inputs, attributes, info.doc));
  }
  return operations;
}

void BindTensor(py::module_& module) {
  py::class_<Tensor>(module, "Tensor")
      .def_property_readonly(
          "shape",
          [](const Tensor& t) {
            const auto extents = t->shape().extents();
            return py::tuple(py::cast(std::vector<uint32_t>(extents.begin(), extents.end())));
          })
      .def_property_readonly("dtype", [](const Tensor& t) { return tt::DTypeName(t->dtype()); })
      .def_property_readonly("layout", [](const Tensor& t) { return tt::LayoutName(t->layout()); })
      // Handle, bytes, bytes of a page; None: deallocated.
      .def_property_readonly("buffer",
                             [](const Tensor& t) -> py::object {
                               const client::Buffer* const buffer = t->buffer();
                               if (buffer == nullptr) {
                                 return py::none();
                               }
                               return py::make_tuple(buffer->handle(), buffer->size_bytes(),
                                                     buffer->page_bytes());
                             })
      .def("read", &ToHost)
      .def("deallocate", [](const Tensor& t) { t.Call([&] { t->Deallocate(); }); });
}

}  // namespace

void BindTensors(py::module_& module) {
  BindTensor(module);
  py::class_<Recording>(module, "Recording")
      .def_property_readonly("launches", [](const Recording& r) { return r->launches(); })
      .def("replay", [](const Recording& r,
                        uint32_t times) { Check(r.Call([&] { return r->Replay(times); })); })
      // Name, launches and clocks of each operation.
      .def("clocks", [](const Recording& r) {
        py::list list;
        for (const tt::OperationClocks& one : Take(r.Call([&] { return r->Clocks(); }))) {
          list.append(py::make_tuple(one.operation, one.launches, one.clocks));
        }
        return list;
      });
  py::class_<TaskRecording>(module, "TaskRecording")
      .def_property_readonly("tasks", [](const TaskRecording& r) { return r->tasks(); });
  py::class_<Card>(module, "Card")
      .def(py::init(&OpenCard))
      .def("tensor", &FromHost)
      .def("begin_recording",
           [](const Card& c, bool clocks) {
             Check(c.Call([&] { return c->BeginRecording({.clocks = clocks}); }));
           })
      .def("end_recording",
           [](const Card& c) {
             return std::make_unique<Recording>(c.session(),
                                                Take(c.Call([&] { return c->EndRecording(); })));
           })
      .def("end_recording_as_tasks",
           [](const Card& c, Graph& graph) {
             return std::make_unique<TaskRecording>(c.session(),
                                                    Take(graph.Call([&](graph::Graph& tasks) {
                                                      return c->EndRecordingAsTasks(&tasks);
                                                    })));
           })
      .def("finish", [](const Card& c) { Check(c.Call([&] { return c->Finish(); })); })
      .def("clear_error", [](const Card& c) { Check(c.Call([&] { return c->ClearError(); })); })
      .def_property_readonly("cores", [](const Card& c) { return c->cores(); })
      // Operations, launches, programs, pooled bytes.
      .def("counts", [](const Card& c) {
        const tt::Card::Counts counts = c.Call([&] { return c->counts(); });
        return py::make_tuple(counts.operations, counts.launches, counts.programs,
                              counts.pooled_bytes);
      });
  py::list dtypes;
  for (const tt::DType dtype : tt::kDTypes) {
    dtypes.append(tt::DTypeName(dtype));
  }
  module.attr("DTYPES") = dtypes;
  module.def("operations", &Operations);
  module.def("apply", &Apply);
}

}  // namespace ttfd::python
