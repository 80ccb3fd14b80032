// Ends, but its tile's answer goes astray: it turns the command buffer with which the base firmware answers toward its
// own tile. BRISC. No arguments.
#include <ttfd/kernel.h>

void kernel_main() {
  using namespace ttfd;
  using Answers = firmware::CommandBuffer<1, 3>;  // as firmware/worker/brisc.cc has it
  const kernel::Position own = kernel::OwnPosition();
  Answers::Set(hw::kNocTargetHigh, kernel::OnTile(own, 0).tile);
}
