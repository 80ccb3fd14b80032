// Parts of the module ttfd._native.
#pragma once

#include <pybind11/pybind11.h>

namespace ttfd::python {

// tensor.cc
void BindTensors(pybind11::module_& module);
// graph.cc
void BindGraphs(pybind11::module_& module);
// mesh.cc
void BindMeshes(pybind11::module_& module);
// safetensors.cc
void BindSafetensors(pybind11::module_& module);
// ttmlir.cc
void BindCompiledPrograms(pybind11::module_& module);

}  // namespace ttfd::python
