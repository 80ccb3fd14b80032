// Leaves something in the tile's Tensix engine, which ends its launch as a fault. TRISC0.
//
// Common arguments: 0 instructions to push, a bit each: 0 fills a bank of SrcA, 1 one of SrcB, 2 posts semaphore 7, 3
// gets it. None, or 2 and 3, leave the engine as it was.
#include <ttfd/compute/instructions.h>
#include <ttfd/kernel.h>

using namespace ttfd::kernel;
using namespace ttfd::hw::tensix;

namespace {

constexpr auto kBfloat16 = static_cast<uint32_t>(Format::kFloat16B);
constexpr uint32_t kSelect = 1u << 7;
constexpr UNPACR_NOP kFill = UNPACR_NOP{}.unpack_pop(1).stall_clr_cntrl(1).set_dvalid(1);

}  // namespace

void kernel_main() {
  const uint32_t what = CommonArgument(0);
  SetThreadConfig<kThreadStateId, 0>();
  SetThreadConfig<kThreadUnpackSet, 4>();
  SetConfig<FieldValue{kUnpackers[1].out_format, kBfloat16}>();
  SetConfig<FieldValue{kUnpackers[0].out_format, kBfloat16}>();
  ReadConfig(kUnpackers[0].out_format.word);
  Push<SEMINIT{}.sem_sel(kSelect).max_value(15)>();
  if ((what & 1) != 0) {
    Push<kFill>();
  }
  if ((what & 2) != 0) {
    Push(kFill.unpacker(1));  // made at run time
  }
  if ((what & 4) != 0) {
    Push<SEMPOST{}.sem_sel(kSelect)>();
  }
  if ((what & 8) != 0) {
    Push<SEMGET{}.sem_sel(kSelect)>();
  }
  Synchronize();
}
