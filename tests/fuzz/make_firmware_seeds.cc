// Writes the seed corpus of fuzz_firmware_record: well-formed entries and exec buffers with every command.
//
// usage: make_firmware_seeds CORPUS_FOLDER (tests/fuzz/corpus)
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/record_builder.h"

namespace ttfd::testing {
namespace {

const std::vector<std::byte> kData(300, std::byte{0x5A});

EntryBuilder Writes() {
  EntryBuilder entry;
  entry.Dispatch(SetWriteOffsetCommand({0, 16, 64, 0}));
  entry.Dispatch(WriteLinearCommand(1, 0x40, 100, 0, 1).Append(kData));
  entry.Dispatch(WriteLinearCommand(1, 0x80, 64, 4).Append(ByteSpan(kData).first(64)));
  entry.Dispatch(WritePagedCommand(true, 3, 0x1000, 64, 2).Append(ByteSpan(kData).first(128)));
  entry.Dispatch(WritePagedCommand(false, 1, 0, 32, 4).Append(ByteSpan(kData).first(128)));
  Payload packed = WritePackedCommand(0, 3, 20, 0x100);
  entry.Dispatch(packed.Value(1).Value(2).Value(3).Pad(16).Append(ByteSpan(kData).first(96)));
  Payload shared = WritePackedCommand(abi::kPackedMulticast | abi::kPackedNoStride, 1, 64, 0x200);
  entry.Dispatch(shared.Value(1).Value(4).Pad(16).Append(ByteSpan(kData).first(64)));
  abi::WritePackedLarge large{};
  large.id = abi::DispatchId::kWritePackedLarge;
  large.count = 2;
  large.alignment = 16;
  Payload stretches(large);
  for (uint32_t i = 0; i < 2; ++i) {
    stretches.Value(abi::WritePackedLargeTarget{1, 0x300 + 64 * i, 48, 4, abi::kPackedLargeUnlink});
  }
  return entry.Dispatch(stretches.Pad(16).Append(ByteSpan(kData).first(96)));
}

EntryBuilder Waits() {
  EntryBuilder entry;
  entry.Dispatch(WaitCommand(abi::kWaitBarrier | abi::kWaitNotifyPrefetch))
      .Bare(abi::PrefetchId::kStall)
      .Dispatch(WaitCommand(abi::kWaitStream | abi::kWaitClearStream, 48))
      .Dispatch(WaitCommand(abi::kWaitMemory, 0, 0xA70))
      .Dispatch(DelayCommand(100))
      .Dispatch(Debugged(2, BareDispatchCommand(abi::DispatchId::kSink)))
      .Debug(ByteSpan(kData).first(40))
      .Dispatch(EventCommand(7));
  return entry;
}

EntryBuilder Goes() {
  EntryBuilder entry;
  const uint32_t targets[] = {1, 2};
  entry.DispatchS(SetNumWorkerSemsCommand(2))
      .DispatchS(SetGoTargetsCommand(targets))
      .Dispatch(NotifyCommand(3))
      .DispatchS(SendGoCommand(0x80000000, 0, 48, 0))
      .DispatchS(SendGoCommand(0x80000001, abi::kNoMulticastGo, 49, 0, 2));
  return entry;
}

EntryBuilder Relays() {
  EntryBuilder entry;
  entry.Noflush(WriteLinearCommand(1, 0, 128)).RelayLinear(1, 0x40, 128);
  entry.Noflush(HostWriteCommand(192)).RelayPaged(true, 2, 0x1000, 64, 3);
  entry.Noflush(WritePagedCommand(true, 0, 0, 64, 2)).RelayPaged(false, 0, 0, 128, 2, 128);
  const abi::RelayPagedPackedTarget packed[] = {{1, 6, 0x1000, 64}, {0, 10, 0x2000, 128}};
  entry.Noflush(WriteLinearCommand(1, 0, 192)).RelayPagedPacked(packed);
  return entry;
}

EntryBuilder Ringbuffer() {
  EntryBuilder entry;
  const abi::RelayRingbufferTarget pieces[] = {{0, 64}, {16, 32}, {128, 20}};
  entry.PagedToRingbuffer(true, 6, 1, 0x1000, 192, 256)
      .SetRingbufferOffset(16, false)
      .Noflush(WriteLinearCommand(1, 0, 116))
      .RelayRingbuffer(pieces);
  return entry;
}

EntryBuilder Long() {
  EntryBuilder entry;
  for (uint32_t i = 0; i < 12; ++i) {
    entry.Dispatch(WriteLinearCommand(1, 64 * i, 200).Append(ByteSpan(kData).first(200)));
    if (i % 4 == 0) entry.Debug(ByteSpan(kData).first(130));
  }
  return entry;
}

int Main(const std::string& folder) {
  std::vector<std::pair<std::string, EntryBuilder>> seeds;
  for (const auto& [name, entry] : {std::pair<std::string, EntryBuilder>{"writes", Writes()},
                                    {"waits", Waits()},
                                    {"goes", Goes()},
                                    {"relays", Relays()},
                                    {"ringbuffer", Ringbuffer()},
                                    {"long", Long()}}) {
    if (name != "long") seeds.emplace_back(name + ".entry", entry);
    EntryBuilder buffer = entry;
    seeds.emplace_back(name + ".buffer", buffer.ExecBufEnd());
  }
  seeds.emplace_back("exec.stalled", EntryBuilder().ExecBuf(0, 10, 2));
  const std::string record_folder = folder + "/firmware_record/";
  for (const auto& [name, entry] : seeds) {
    const bool buffer = name.ends_with(".buffer");
    const char mode = name.ends_with(".stalled") ? 2 : buffer ? 1 : 0;
    std::ofstream file(record_folder + name, std::ios::binary);
    file.put(mode);
    file.write(reinterpret_cast<const char*>(entry.bytes().data()),
               static_cast<std::streamsize>(entry.bytes().size()));
    if (!file.flush()) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace ttfd::testing

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
  return ttfd::testing::Main(argv[1]);
}
