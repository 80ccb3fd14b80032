// Writes the seed corpus of the record fuzz targets: one entry of every kind the encoders make, and
// all of them as a file.
//
// usage: make_record_seeds CORPUS_FOLDER (tests/fuzz/corpus)
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/command/control_encoder.h"
#include "runtime/command/launch_encoder.h"
#include "runtime/command/packed_writes.h"
#include "runtime/command/record_file.h"
#include "runtime/command/transfer_encoder.h"
#include "runtime/hw/noc.h"
#include "tests/support/vector_sink.h"

namespace ttfd {
namespace {

Status Encode(RecordSink& sink) {
  const CardGeometry card({1, 2}, {hw::NocXy(17, 12), hw::NocXy(18, 15)}, {16, 3});
  const std::vector<std::byte> data(200 * 16, std::byte{0x5A});
  const ByteSpan bytes(data);
  const Region paged{MemoryKind::kDram, -1, 0x1000, 64, 1 << 20};
  const Region one_bank{MemoryKind::kDram, 1, 0x1000, 64, 1 << 20};
  const auto sink_nothing = [](uint64_t, ByteSpan) {};
  const auto expect = [](const ReadPiece&) { return 7u; };
  RETURN_IF_ERROR(EncodeWrite({paged, 64, bytes.first(128)}, card, sink));
  RETURN_IF_ERROR(EncodeWrite({one_bank, 32, bytes.first(48)}, card, sink));
  RETURN_IF_ERROR(EncodeFill({paged, 0, 256, 0x12345678}, card, sink));
  RETURN_IF_ERROR(EncodeRead({paged, 3, 200, sink_nothing}, 4096, card, expect, sink));
  RETURN_IF_ERROR(EncodeRead({one_bank, 70, 9, sink_nothing}, 4096, card, expect, sink));
  RETURN_IF_ERROR(EncodeCopy({paged, 0, one_bank, 64, 512}, card, sink));

  const CoreRange ranges[] = {{0, 0, 1, 0}, {0, 2, 0, 2}};
  RETURN_IF_ERROR(PackedShared(kPackedLaunch, 0x480, bytes.first(64), ranges, card, sink));
  const PackedTarget targets[] = {{0x81, 0}, {0x82, 0}};
  RETURN_IF_ERROR(PackedEach(
      kPackedArguments, 0xA000, 4, targets, card, sink,
      [](MutableByteSpan to, size_t i) { StoreAt(to.data(), static_cast<uint32_t>(i)); }));
  const LargePart parts[] = {{{0, 0, 1, 9}, 0x10000, bytes.first(48)}};
  RETURN_IF_ERROR(PackedLarge(kPackedLargeBinaries, parts, card, sink));
  RETURN_IF_ERROR(EncodeGo({true, 0, 0, {}}, 3, 20, card, sink));
  RETURN_IF_ERROR(EncodeGo({false, 0, 2, {0x81, 0x82}}, 4, 40, card, sink));
  RETURN_IF_ERROR(EncodeEvent(5, 0, 9, sink));
  RETURN_IF_ERROR(EncodeTerminate(Terminated::kDispatch, sink));
  RETURN_IF_ERROR(EncodeTerminate(Terminated::kDispatchS, sink));
  return EncodeTerminate(Terminated::kPrefetch, sink);
}

Status Main(const std::string& folder) {
  VectorSink sink;
  RETURN_IF_ERROR(Encode(sink));
  ASSIGN_OR_RETURN(auto file, RecordFileWriter::Create(folder + "/record_file/all.rec"));
  for (size_t i = 0; i < sink.records.size(); ++i) {
    const auto& record = sink.records[i];
    std::ofstream stream(fmt::format("{}/record_entry/{:02}.bin", folder, i), std::ios::binary);
    stream.write(reinterpret_cast<const char*>(record.data()),
                 static_cast<std::streamsize>(record.size()));
    if (!stream.flush()) return Internal("cannot write to {}/record_entry", folder);
    file->Append(i * 1000, record);
  }
  return file->Finish();
}

}  // namespace
}  // namespace ttfd

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
  const ttfd::Status status = ttfd::Main(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
