// Programs as Python.
#pragma once

#include <string>

#include "client/ttmlir/src/executable.h"
#include "ttfd/ttmlir/binary.h"

namespace ttfd::ttmlir {

// The text that PythonOf (submit.h) returns, of programs that have these names.
std::string PythonText(const Executable& executable, const std::vector<ProgramInfo>& programs,
                       size_t program);

}  // namespace ttfd::ttmlir
