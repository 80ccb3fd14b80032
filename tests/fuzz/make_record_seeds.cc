// Writes the seed corpus of the record fuzz targets: one entry of every kind the encoders make, all of
// them as a file, and a buffer of a trace.
//
// usage: make_record_seeds CORPUS_FOLDER (tests/fuzz/corpus)
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/command/control_encoder.h"
#include "runtime/command/launch_encoder.h"
#include "runtime/command/packed_writes.h"
#include "runtime/command/record_file.h"
#include "runtime/command/record_writer.h"
#include "runtime/command/transfer_encoder.h"
#include "runtime/hw/noc.h"
#include "tests/support/test_batch.h"

namespace ttfd {
namespace {

template <typename Write>
void Add(RecordBatch& batch, const Write& write) {
  std::vector<std::byte> memory(4096);
  RecordWriter writer(memory);
  write(writer);
  const MutableByteSpan to = batch.Append(writer.bytes_written());
  std::memcpy(to.data(), memory.data(), to.size());
}

// What only RecordWriter makes.
void EncodeRest(RecordBatch& batch) {
  const abi::RelayPagedPackedTarget stretches[] = {{1, 10, 0x40, 64}, {0, 12, 0x80, 65}};
  const abi::RelayRingbufferTarget ring_stretches[] = {{0, 16}, {32, 5}};
  abi::PagedToRingbuffer fill{};
  fill.log2_page_size = 10;
  fill.length = 128;
  fill.wp_offset_update = 192;
  abi::Delay delay{};
  delay.id = abi::DispatchId::kDelay;
  delay.delay = 1000;
  abi::WritePaged paged{};
  paged.id = abi::DispatchId::kWritePaged;
  paged.page_size = 64;
  paged.pages = 2;
  Add(batch, [&](RecordWriter& w) { w.RelayPagedPacked(stretches); });
  Add(batch, [&](RecordWriter& w) { w.PagedToRingbuffer(fill); });
  Add(batch, [&](RecordWriter& w) { w.SetRingbufferOffset(64, true); });
  Add(batch, [&](RecordWriter& w) { w.RelayRingbuffer(ring_stretches); });
  Add(batch, [&](RecordWriter& w) { w.Debug(7, BytesOf(delay)); });
  Add(batch, [&](RecordWriter& w) { w.Dispatch(delay); });
  Add(batch, [&](RecordWriter& w) { w.DispatchHeader(paged); });
  Add(batch, [&](RecordWriter& w) { w.ExecBuf(0x40, 10, 2); });
}

void Encode(RecordBatch& batch) {
  const CardGeometry card({1, 2}, {hw::NocXy(17, 12), hw::NocXy(18, 15)}, {{{16, 3}, {16, 5}}});
  const std::vector<std::byte> data(200 * 16, std::byte{0x5A});
  const ByteSpan bytes(data);
  const Region paged{MemoryKind::kDram, -1, 0x1000, 64, 1 << 20};
  const Region one_bank{MemoryKind::kDram, 1, 0x1000, 64, 1 << 20};
  const auto sink_nothing = [](uint64_t, ByteSpan) {};
  std::vector<ReadPiece> pieces;
  EncodeWrite({paged, 64, bytes.first(128)}, card, batch);
  EncodeWrite({one_bank, 32, bytes.first(48)}, card, batch);
  EncodeFill({paged, 0, 256, 0x12345678}, card, batch);
  EncodeRead({paged, 3, 200, sink_nothing}, 4096, card, 7, &pieces, batch);
  EncodeRead({one_bank, 70, 9, sink_nothing}, 4096, card, 7, &pieces, batch);
  EncodeCopy({paged, 0, one_bank, 64, 512}, card, batch);

  const CoreRange ranges[] = {{0, 0, 1, 0}, {0, 2, 0, 2}};
  PackedShared(kPackedLaunch, 0x480, bytes.first(64), ranges, card, batch);
  const PackedTarget targets[] = {{0x81, 0}, {0x82, 0}};
  PackedEach(kPackedArguments, 0xA000, 4, targets, card, batch,
             [](MutableByteSpan to, size_t i) { StoreAt(to.data(), static_cast<uint32_t>(i)); });
  const LargePart parts[] = {{{0, 0, 1, 9}, 0x10000, bytes.first(48)}};
  PackedLarge(kPackedLargeBinaries, parts, card, batch);
  EncodeGo({true, 0, 0, {}}, batch);
  EncodeGoTable({false, 0, 2, {0x81, 0x82}}, batch);
  EncodeGo({false, 0, 2, {}}, batch);
  EncodeEvent(5, 0, 9, batch);
  EncodeTerminate(Terminated::kDispatch, batch);
  EncodeTerminate(Terminated::kDispatchS, batch);
  EncodeTerminate(Terminated::kPrefetch, batch);
  EncodeRest(batch);
}

// Bytes behind the end are nobody's.
void WriteBuffer(RecordWriter& writer) {
  abi::Wait wait{};
  wait.id = abi::DispatchId::kWait;
  wait.flags = abi::kWaitStream;
  wait.stream = 48;
  writer.Dispatch(wait);
  writer.ExecBufEnd();
  writer.Stall();
}

Status Save(const std::string& path, ByteSpan bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush()) return Internal("cannot write {}", path);
  return OkStatus();
}

Status Main(const std::string& folder) {
  TestBatch batch;
  Encode(batch);
  std::vector<std::byte> buffer(192);
  RecordWriter writer(buffer);
  WriteBuffer(writer);
  RETURN_IF_ERROR(Save(folder + "/record_entry/buffer.bin", buffer));
  ASSIGN_OR_RETURN(auto file, RecordFileWriter::Create(folder + "/record_file/all.rec"));
  const std::vector<std::byte> all = batch.Bytes()[0];
  ASSIGN_OR_RETURN(const std::vector<DecodedCommand> commands, DecodeEntry(all));
  size_t at = 0;
  for (size_t i = 0; i < commands.size(); ++i) {
    const ByteSpan record = ByteSpan(all).subspan(at, RecordBytes(commands[i]));
    at += record.size();
    RETURN_IF_ERROR(Save(fmt::format("{}/record_entry/{:02}.bin", folder, i), record));
    file->Append(static_cast<uint32_t>(i % 2), i * 1000, record);
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
