// Second of five harts that compute with tiles (tile_reader.cc describes them): unpacks tiles of circular buffer 0 into
// SrcB and of circular buffer 1 into SrcA, so that a matrix product is buffer 0 times buffer 1. TRISC0.
//
// Common arguments: 0 number of tiles.
//
// This hart owns configuration words 0, 1 and 2, which all three threads use: it stores them before its first tile.
// Math waits for a valid source bank, and pack for math's semaphore, so both use the words after that.
#include <ttfd/compute/instructions.h>
#include <ttfd/kernel.h>

using namespace ttfd::kernel;
using namespace ttfd::hw::tensix;

namespace {

constexpr uint32_t kDatums = 1024;
constexpr auto kBfloat16 = static_cast<uint32_t>(Format::kFloat16B);
constexpr UnpackerConfig kToSrcA = kUnpackers[0];
constexpr UnpackerConfig kToSrcB = kUnpackers[1];

// bfloat16 in the sources and from the packer, 32 bits in Dst; denormals are 0; no ReLU.
void ConfigureAll() {
  SetConfig<FieldValue{kAluSrcAOverride, 0}, FieldValue{kAluSrcBOverride, 0},
            FieldValue{kAluDstOverride, 0}>();
  SetConfig<FieldValue{kAluSrcAFormat, kBfloat16}, FieldValue{kAluSrcBFormat, kBfloat16},
            FieldValue{kAluDstFormat, kBfloat16}, FieldValue{kAluFloat32Dst, 1},
            FieldValue{kAluFloat32Sfpu, 1}, FieldValue{kAluInt8, 0}>();
  SetConfig<FieldValue{kAluKeepDenormalSrc, 0}, FieldValue{kPackReluMode, 0}>();
}

// A tile is one row of 1024 datums, which fills the 64 rows of a source.
void ConfigureUnpackers() {
  SetConfig<FieldValue{kToSrcA.in_format, kBfloat16}, FieldValue{kToSrcA.uncompressed, 1}>();
  SetConfig<FieldValue{kToSrcA.x_dim, kDatums}>();
  SetConfig<FieldValue{kToSrcA.y_dim, 1}, FieldValue{kToSrcA.z_dim, 1}>();
  SetConfig<FieldValue{kToSrcA.out_format, kBfloat16}, FieldValue{kToSrcA.transpose, 0}>();
  SetConfig<FieldValue{kToSrcA.no_zero_compression, 1}>();
  SetConfig<FieldValue{kToSrcA.offset, 0}>();
  SetConfig<FieldValue{kToSrcA.dest_y_stride, 0}>();
  SetConfig<FieldValue{kToSrcA.dest_z_stride, 0}>();
  SetConfig<FieldValue{kUnpack0DestAddress, 64}>();  // row 0: the unpacker subtracts 64
  SetConfig<FieldValue{kUnpack0AddCounter, 0}>();

  SetConfig<FieldValue{kToSrcB.in_format, kBfloat16}, FieldValue{kToSrcB.uncompressed, 1},
            FieldValue{kToSrcB.x_dim, kDatums}>();
  SetConfig<FieldValue{kToSrcB.y_dim, 1}, FieldValue{kToSrcB.z_dim, 1}>();
  SetConfig<FieldValue{kToSrcB.out_format, kBfloat16}>();
  SetConfig<FieldValue{kToSrcB.no_zero_compression, 1}>();
  SetConfig<FieldValue{kToSrcB.dest_z_stride, 0}>();
}

void ConfigureThread() {
  SetThreadConfig<kThreadStateId, 0>();
  SetThreadConfig<kThreadUnpackSet, 4>();
  SetThreadConfig<kThreadUnpackContext, 0>();
  SetCounters<kCountersUnpack0 | kCountersUnpack1, kDatums>();
}

}  // namespace

void kernel_main() {
  CircularBuffer left(0);
  CircularBuffer right(1);
  ConfigureAll();
  ConfigureUnpackers();
  ConfigureThread();
  for (uint32_t count = CommonArgument(0); count != 0; --count) {
    SetConfig(kToSrcB.address.word, left.Wait() / 16 - 1);
    SetConfig(kToSrcA.address.word, right.Wait() / 16 - 1);
    ReadConfig(kToSrcA.address.word);
    constexpr UNPACR kUnpack = UNPACR{}.last(1).ovrd_thread_id(1).set_dat_valid(1);
    Push<kUnpack.unpacker(0)>();
    Push<kUnpack.unpacker(1)>();
    Synchronize();  // the pages have been read, and the addresses used
    left.Pop();
    right.Pop();
  }
  Synchronize();
}
