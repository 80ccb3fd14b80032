// Rules that a launch must keep so that the encoder may rely on them.
#include "runtime/command/launch_check.h"

#include "runtime/command/launch_config.h"
#include "runtime/command/program_layout.h"

namespace ttfd {
namespace {

// Do all tiles of the program belong to the route's workers?
Status CheckWorkers(const Route& route, const Program& program) {
  if (route.workers.none()) return OkStatus();
  for (const uint16_t worker : program.workers) {
    if (route.workers.test(worker)) continue;
    return InvalidArgument(
        "the program runs on core ({},{}), which is not among the {} workers of its queue",
        worker % program.grid.x, worker / program.grid.x, route.workers.count());
  }
  return OkStatus();
}

}  // namespace

Status CheckLaunch(const Route& route, const LaunchCommand& launch, const CardGeometry& card) {
  if (launch.program == nullptr) return InvalidArgument("a launch without a program");
  const Program& program = *launch.program;
  if (program.grid.x != card.grid().x || program.grid.y != card.grid().y) {
    return InvalidArgument("the program was built for a grid of {}x{}; the card has {}x{}",
                           program.grid.x, program.grid.y, card.grid().x, card.grid().y);
  }
  RETURN_IF_ERROR(CheckWorkers(route, program));
  return CheckArguments(program, launch.arguments);
}

}  // namespace ttfd
