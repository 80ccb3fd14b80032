// Fourth of five harts that compute with tiles (tile_reader.cc describes them): packs the tile in Dst, when the
// engine's semaphore 1 announces it, into circular buffer 2 as bfloat16. TRISC2.
//
// Common arguments: 0 number of tiles. tile_unpack.cc stores the configuration words that the threads share.
#include <ttfd/compute/instructions.h>
#include <ttfd/kernel.h>

using namespace ttfd::kernel;
using namespace ttfd::hw::tensix;

namespace {

constexpr auto kBfloat16 = static_cast<uint32_t>(Format::kFloat16B);
constexpr uint32_t kRowBytes = 32;  // of 16 datums of kPackInFormat

// Dst is read as 64 rows of 32 bits, four rows an instruction.
void ConfigurePacker() {
  SetConfig<FieldValue{kPackSourceYStride, kRowBytes}>();
  SetConfig<FieldValue{kPackSourceZStride, 0}, FieldValue{kPackSourceWStride, 0}>();
  SetConfig<FieldValue{kPackDestYStride, 0}>();
  SetConfig<FieldValue{kPackRead32Bit, 1}>();
  SetConfig(kPackRowSets, 0);
  SetConfig(kPackRowSets + 1, 0);
  SetConfig<FieldValue{kPackEdgeMask0, 0xFFFF}, FieldValue{kPackRowSetSelect, 0}>();
  SetConfig<FieldValue{kPackEdgeMask1, 0}>();
  SetConfig<FieldValue{kPackRowsPerPlane, 16}>();
  SetConfig<FieldValue{kPackExponentBytes, 0}>();
  SetConfig<FieldValue{kPackNoZeroCompression, 1}, FieldValue{kPackOutFormat, kBfloat16},
            FieldValue{kPackInFormat, kBfloat16}>();
  SetConfig<FieldValue{kPackAccumulate, 0}>();
  SetConfig<FieldValue{kPackDstOffset, 0}>();
}

void ConfigureThread() {
  SetThreadConfig<kThreadStateId, 0>();
  SetThreadConfig<kThreadAddrModPack, kAddrModSourceYIncrement.In(0, 4)>();
  SetThreadConfig<kThreadAddrModPack + 1, kAddrModSourceYClear.In(0, 1)>();
  SetCounters<kCountersPack, 16>();
}

}  // namespace

void kernel_main() {
  CircularBuffer out(2);
  ConfigurePacker();
  ConfigureThread();
  constexpr uint32_t kSelect = 1u << kSemaphoreMathPack;
  for (uint32_t count = CommonArgument(0); count != 0; --count) {
    SetConfig(kPackAddress.word, out.Reserve() / 16 - 1);
    ReadConfig(kPackAddress.word);
    Push<SEMWAIT{}
             .sem_sel(kSelect)
             .wait_sem_cond(kWhileZero)
             .stall_res(kStallPack | kStallSync)>();  // the tile is in Dst
    for (uint32_t i = 0; i != 15; ++i) Push<PACR{}>();
    Push<PACR{}.last(1).addr_mode(1)>();
    Push<STALLWAIT{}.stall_res(kStallSync).wait_res(kUntilPack)>();
    Push<SEMGET{}.sem_sel(kSelect)>();
    Synchronize();  // the page has been written, and the address used
    out.Push();
  }
  Synchronize();
}
