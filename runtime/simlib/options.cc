#include "runtime/simlib/options.h"

#include <cstdlib>
#include <string>

#include "runtime/device/sim/sim_device.h"

namespace ttfd::simlib {

StatusOr<sim::ChipOptions> OptionsFromEnvironment() {
  const char* const text = std::getenv("TTFD_SIM");
  ASSIGN_OR_RETURN(
      const SimOptions options,
      ParseSimOptions(text == nullptr || *text == 0 ? "sim" : std::string("sim:") + text));
  if (!options.gdb.empty())
    return InvalidArgument("gdb: only ttfd lets a debugger in, the library does not");
  if (!options.trace.path.empty())
    return InvalidArgument("trace: only ttfd writes one, the library does not");
  return sim::ChipOptions(options);
}

}  // namespace ttfd::simlib
