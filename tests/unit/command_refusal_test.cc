// One refusal of the decoder for each rule of the protocol: which byte is wrong, and how.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/command/decoder.h"
#include "runtime/command/record_writer.h"

namespace ttfd::command_refusal_test {
namespace {

// Values written over a valid record, `bytes` bytes each.
struct Change {
  size_t at;
  uint64_t value;
  size_t bytes = 4;
};

// The record behind a STALL, changed; refused at its offset with a reason that says `reason`.
void Refused(std::vector<std::byte> record, std::initializer_list<Change> changes,
             const std::string& reason) {
  std::vector<std::byte> entry(abi::kEntryAlignment);
  RecordWriter(entry).Stall();
  entry.insert(entry.end(), record.begin(), record.end());
  ASSERT_TRUE(changes.size() == 0 || DecodeEntry(entry).ok())
      << "valid before: " << DecodeEntry(entry).status().ToString();
  for (const Change& change : changes) {
    std::memcpy(entry.data() + abi::kEntryAlignment + change.at, &change.value, change.bytes);
  }
  const auto decoded = DecodeEntry(entry);
  ASSERT_FALSE(decoded.ok()) << "expected: " << reason;
  EXPECT_EQ(decoded.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(StatusMessage(decoded.status())), "offset 0x40: " + reason);
}

template <typename Write>
std::vector<std::byte> Record(const Write& write) {
  std::vector<std::byte> memory(16 * 1024);
  RecordWriter writer(memory);
  write(writer);
  memory.resize(writer.bytes_written());
  return memory;
}
template <typename T>
std::vector<std::byte> Dispatched(abi::DispatchId id, T command = T{}, uint32_t extra = 0) {
  command.id = id;
  return Record([&](RecordWriter& writer) { writer.Dispatch(command, extra); });
}
template <typename T>
std::vector<std::byte> DispatchedS(abi::DispatchId id, T command = T{}, uint32_t extra = 0) {
  command.id = id;
  return Record([&](RecordWriter& writer) { writer.DispatchS(command, extra); });
}

constexpr size_t kPayload = 16;  // where the dispatch command begins

TEST(Refusal, UnknownPrefetchCommands) {
  const auto stall = Record([](RecordWriter& w) { w.Stall(); });
  for (const uint64_t id : {0, 15, 255}) {
    Refused(stall, {{0, id, 1}}, fmt::format("prefetch command {} is not in the command set", id));
  }
  Refused(stall, {{63, 1, 1}}, "padding is not zero");
}

TEST(Refusal, RelayLinear) {
  const auto record = Record([](RecordWriter& w) { w.RelayLinear(5, 0x1000, 64); });
  Refused(record, {{3, 0, 8}}, "RELAY_LINEAR of 0 bytes; 1 to 4294967295 are allowed");
  Refused(record, {{3, uint64_t{1} << 32, 8}},
          "RELAY_LINEAR of 4294967296 bytes; 1 to 4294967295 are allowed");
  Refused(record, {{15, 0x1008, 8}}, "RELAY_LINEAR from 0x1008; it must be a multiple of 16");
  Refused(record, {{1, 1, 1}}, "a reserved field is not zero");
  Refused(record, {{31, 1, 1}}, "padding is not zero");
}

TEST(Refusal, RelayPaged) {
  const auto record = Record([](RecordWriter& w) { w.RelayPaged(true, 0, 0x40, 128, 2, 3); });
  Refused(record, {{8, 96}}, "RELAY_PAGED at 0x40 in pages of 96; both must be multiples of 64");
  Refused(record, {{4, 0x50}}, "RELAY_PAGED at 0x50 in pages of 128; both must be multiples of 64");
  Refused(record, {{8, 0}}, "RELAY_PAGED at 0x40 in pages of 0; both must be multiples of 64");
  Refused(record, {{12, 0}}, "RELAY_PAGED of 0 pages, 3 bytes off the last");
  Refused(record, {{2, 128, 2}}, "RELAY_PAGED of 2 pages, 128 bytes off the last");
  Refused(record, {{12, 1 << 25}}, "RELAY_PAGED of 33554432 pages, 3 bytes off the last");
  Refused(record, {{16, 1}}, "padding is not zero");
}

TEST(Refusal, RelayPagedPacked) {
  const abi::RelayPagedPackedTarget targets[] = {{0, 10, 0x40, 64}, {0, 10, 0x80, 65}};
  const auto record = Record([&](RecordWriter& w) { w.RelayPagedPacked(targets); });
  Refused(record, {{2, 0, 2}}, "RELAY_PAGED_PACKED of 0 stretches; 1 to 35 are allowed");
  Refused(record, {{2, 36, 2}}, "RELAY_PAGED_PACKED of 36 stretches; 1 to 35 are allowed");
  Refused(record, {{2, 20, 2}}, "a command of 256 bytes where 64 are left");
  Refused(record, {{4, 128}}, "stretches of 129 bytes where RELAY_PAGED_PACKED says 128");
  Refused(record, {{8, 128}}, "stride 128 for 40 bytes; it must be 64");
  Refused(record, {{12, 1}}, "a reserved field is not zero");
  constexpr const char* kRule = "the address must be a multiple of 64, the power 6 to 31";
  Refused(record, {{18, 5, 2}}, fmt::format("stretch 0 at 0x40 in pages of 2^5; {}", kRule));
  Refused(record, {{18, 32, 2}}, fmt::format("stretch 0 at 0x40 in pages of 2^32; {}", kRule));
  Refused(record, {{32, 0x90}}, fmt::format("stretch 1 at 0x90 in pages of 2^10; {}", kRule));
  Refused(record, {{24, 65}}, "stretch 0 of 65 bytes; all but the last must be multiples of 16");
  Refused(record, {{36, 0}}, "stretch 1 of 0 bytes; all but the last must be multiples of 16");
  Refused(record, {{40, 1}}, "padding is not zero");
}

TEST(Refusal, RelayRingbuffer) {
  const abi::RelayRingbufferTarget targets[] = {{0, 16}, {32, 5}};
  const auto record = Record([&](RecordWriter& w) { w.RelayRingbuffer(targets); });
  Refused(record, {{2, 0, 2}}, "RELAY_RINGBUFFER of 0 stretches; 1 to 52 are allowed");
  Refused(record, {{2, 53, 2}}, "RELAY_RINGBUFFER of 53 stretches; 1 to 52 are allowed");
  Refused(record, {{4, 0}}, "stride 0 for 32 bytes; it must be 64");
  Refused(record, {{8, 1}}, "a reserved field is not zero");
  Refused(record, {{16, 8}}, "stretch 0 starts at 0x8; it must be a multiple of 16");
  Refused(record, {{20, 17}}, "stretch 0 of 17 bytes; all but the last must be multiples of 16");
  Refused(record, {{28, 0}}, "stretch 1 of 0 bytes; all but the last must be multiples of 16");
}

TEST(Refusal, PagedToRingbuffer) {
  abi::PagedToRingbuffer fill{};
  fill.log2_page_size = 10;
  fill.length = 128;
  fill.wp_offset_update = 192;
  const auto record = Record([&](RecordWriter& w) { w.PagedToRingbuffer(fill); });
  constexpr const char* kRule = "both must be multiples of 64, the second not less";
  Refused(record, {{1, 2, 1}}, "PAGED_TO_RINGBUFFER with flags 0x2");
  Refused(record, {{2, 5, 1}}, "PAGED_TO_RINGBUFFER at 0x0 in pages of 2^5");
  Refused(record, {{8, 0x20}}, "PAGED_TO_RINGBUFFER at 0x20 in pages of 2^10");
  Refused(record, {{12, 0}},
          fmt::format("PAGED_TO_RINGBUFFER of 0 bytes, write pointer on by 192; {}", kRule));
  Refused(record, {{12, 100}},
          fmt::format("PAGED_TO_RINGBUFFER of 100 bytes, write pointer on by 192; {}", kRule));
  Refused(record, {{4, 64}},
          fmt::format("PAGED_TO_RINGBUFFER of 128 bytes, write pointer on by 64; {}", kRule));
  Refused(record, {{4, 200}},
          fmt::format("PAGED_TO_RINGBUFFER of 128 bytes, write pointer on by 200; {}", kRule));
}

TEST(Refusal, SetRingbufferOffset) {
  const auto record = Record([](RecordWriter& w) { w.SetRingbufferOffset(64, true); });
  Refused(record, {{8, 2, 1}}, "update_wp is 2");
  Refused(record, {{1, 16}}, "ring buffer offset 0x10; it must be a multiple of 64");
  Refused(record, {{1, 8}, {8, 0, 1}}, "ring buffer offset 0x8; it must be a multiple of 16");
  Refused(record, {{5, 1, 2}}, "a reserved field is not zero");
  Refused(record, {{9, 1, 1}}, "padding is not zero");
}

TEST(Refusal, PrefetchDebug) {
  const std::vector<std::byte> data(48);
  const auto record = Record([&](RecordWriter& w) { w.Debug(1, data); });
  Refused(record, {{4, 49}}, "a command of 65 bytes where 64 are left");
  Refused(record, {{8, 128}}, "stride 128 for 64 bytes; it must be 64");
  Refused(record, {{4, 0xFFFFFFFF}}, "a command of 4294967311 bytes where 64 are left");
  Refused(record, {{12, 1}}, "a reserved field is not zero");
}

TEST(Refusal, ExecBuf) {
  const auto record = Record([](RecordWriter& w) { w.ExecBuf(0x40, 10, 2); });
  constexpr const char* kRule = "the power is 10 to 12, the address a multiple of 64";
  Refused(record, {{4, 0x50}}, fmt::format("EXEC_BUF of 2 pages of 2^10 at 0x50; {}", kRule));
  Refused(record, {{8, 9}}, fmt::format("EXEC_BUF of 2 pages of 2^9 at 0x40; {}", kRule));
  Refused(record, {{8, 13}}, fmt::format("EXEC_BUF of 2 pages of 2^13 at 0x40; {}", kRule));
  Refused(record, {{12, 0}}, fmt::format("EXEC_BUF of 0 pages of 2^10 at 0x40; {}", kRule));
  Refused(record, {{1, 1, 1}}, "a reserved field is not zero");
  Refused(Record([](RecordWriter& w) {
            w.ExecBuf(0x40, 10, 2);
            w.Stall();
          }),
          {}, "EXEC_BUF is not the last command of its entry");
  Refused(Record([](RecordWriter& w) { w.ExecBufEnd(); }), {}, "EXEC_BUF_END outside a buffer");
}

TEST(Refusal, ExecBuffers) {
  const auto refused = [](std::vector<std::byte> buffer, const std::string& reason) {
    const auto decoded = DecodeExecBuffer(buffer);
    ASSERT_FALSE(decoded.ok()) << "expected: " << reason;
    EXPECT_EQ(std::string(StatusMessage(decoded.status())), reason);
  };
  refused({}, "a buffer of 0 bytes; multiples of 64 exist");
  refused(Record([](RecordWriter& w) { w.Stall(); }),
          "offset 0x40: the buffer ends without EXEC_BUF_END");
  refused(Record([](RecordWriter& w) { w.ExecBuf(0x40, 10, 2); }),
          "offset 0x0: EXEC_BUF inside a buffer");
  auto end = Record([](RecordWriter& w) {
    w.Stall();
    w.ExecBufEnd();
  });
  ASSERT_TRUE(DecodeExecBuffer(end).ok());
  end[64 + kPayload] = std::byte{8};
  refused(end, "offset 0x40: EXEC_BUF_END carries another dispatch command than its own");
  end[64 + kPayload] = std::byte{11};
  end[64 + 1] = std::byte{1};
  refused(end, "offset 0x40: dispatch command 11 sent to dispatch_s");
}

TEST(Refusal, BareDispatchCommandsAndDelay) {
  for (const uint64_t id : {0, 18, 255}) {
    Refused(Dispatched<abi::BareDispatch>(abi::DispatchId::kSink), {{kPayload, id, 1}},
            fmt::format("dispatch command {} is not in the command set", id));
  }
  for (const auto id :
       {abi::DispatchId::kSink, abi::DispatchId::kExecBufEnd, abi::DispatchId::kTerminate}) {
    Refused(Dispatched<abi::BareDispatch>(id), {{kPayload + 15, 1, 1}},
            "a reserved field is not zero");
  }
  Refused(Dispatched<abi::BareDispatch>(abi::DispatchId::kDebug), {},
          "no command follows a dispatch DEBUG in its page");
  auto debugged = Dispatched<abi::BareDispatch>(abi::DispatchId::kDebug, {}, 16);
  debugged[kPayload + 16] = std::byte{8};
  Refused(debugged, {{kPayload + 15, 1, 1}}, "a reserved field is not zero");
  Refused(debugged, {{kPayload + 31, 1, 1}}, "a reserved field is not zero");
  Refused(debugged, {{1, 1, 1}}, "dispatch command 9 sent to dispatch_s");
  const auto delay = Dispatched<abi::Delay>(abi::DispatchId::kDelay);
  Refused(delay, {{kPayload + 4, (1 << 20) + 1}},
          "DELAY of 1048577 clocks; at most 1048576 are allowed");
  Refused(delay, {{kPayload + 1, 1, 1}}, "a reserved field is not zero");
  Refused(delay, {{kPayload + 8, 1}}, "a reserved field is not zero");
  Refused(delay, {{1, 1, 1}}, "dispatch command 10 sent to dispatch_s");
}

TEST(Refusal, WriteLinearAndWritePaged) {
  abi::WriteLinear linear{};
  linear.length = 16;
  for (const auto id : {abi::DispatchId::kWriteLinear, abi::DispatchId::kWriteLinearH}) {
    const auto record = Dispatched(id, linear, 16);
    Refused(record, {{kPayload + 16, 0, 8}},
            "WRITE_LINEAR of 0 bytes; 1 to 4294967295 are allowed");
    Refused(record, {{kPayload + 16, uint64_t{1} << 32, 8}},
            "WRITE_LINEAR of 4294967296 bytes; 1 to 4294967295 are allowed");
    Refused(record, {{kPayload + 2, 4, 1}}, "write offset 4; there are 4");
    Refused(record, {{kPayload + 3, 1, 1}}, "a reserved field is not zero");
    Refused(record, {{kPayload + 24, 1, 1}}, "a reserved field is not zero");
    Refused(record, {{0, 6, 1}},
            fmt::format("16 bytes of data where dispatch command {} says 16",
                        static_cast<uint32_t>(id)));
  }
  abi::WritePaged paged{};
  paged.page_size = 32;
  paged.pages = 2;
  const auto record = Dispatched(abi::DispatchId::kWritePaged, paged, 64);
  Refused(record, {{kPayload + 1, 2, 1}},
          "WRITE_PAGED of 2 pages of 32 bytes; pages are multiples of 16");
  Refused(record, {{kPayload + 4, 8}},
          "WRITE_PAGED of 64 bytes at 0x8; the address must be a multiple of 16");
  Refused(record, {{kPayload + 8, 0x80000000}},
          "WRITE_PAGED of 4294967296 bytes at 0x0; the address must be a multiple of 16");
}

TEST(Refusal, HeadersWhoseDataFollows) {
  abi::WritePaged paged{};
  paged.id = abi::DispatchId::kWritePaged;
  paged.page_size = 16;
  paged.pages = 1;
  const auto record = Record([&](RecordWriter& w) { w.DispatchHeader(paged); });
  Refused(record, {{4, 20}}, "NOFLUSH with 20 bytes of dispatch command 4");
  Refused(record, {{kPayload, 7, 1}}, "NOFLUSH with 16 bytes of dispatch command 7");
}

TEST(Refusal, WritePackedAndItsLargeForm) {
  abi::WritePacked packed{};
  packed.count = 1;
  packed.size = 16;
  const auto record = Dispatched(abi::DispatchId::kWritePacked, packed, 32);
  Refused(record, {{kPayload + 1, 4, 1}}, "WRITE_PACKED with flags 0x4");
  Refused(record, {{kPayload + 4, 4, 2}}, "WRITE_PACKED of 1 targets, 16 bytes, write offset 4");
  Refused(record, {{kPayload + 6, 4097, 2}},
          "WRITE_PACKED of 1 targets, 4097 bytes, write offset 0");
  Refused(record, {{kPayload + 20, 1}}, "padding is not zero");

  abi::WritePackedLarge large{};
  large.id = abi::DispatchId::kWritePackedLarge;
  large.count = 1;
  large.alignment = 16;
  const auto large_record = Record([&](RecordWriter& w) {
    MutableByteSpan extra = w.Dispatch(large, 32);
    StoreAt(extra.data(), abi::WritePackedLargeTarget{5, 0, 16, 2, abi::kPackedLargeUnlink});
  });
  constexpr size_t kTarget = kPayload + 16;
  Refused(large_record, {{kTarget + 8, 0, 2}},
          "target 0 of 0 bytes for 2 receivers with flags 0x1");
  Refused(large_record, {{kTarget + 10, 0, 1}},
          "target 0 of 16 bytes for 0 receivers with flags 0x1");
  Refused(large_record, {{kTarget + 11, 3, 1}},
          "target 0 of 16 bytes for 2 receivers with flags 0x3");
  Refused(large_record, {{kTarget + 11, 0, 1}},
          "target 0 is the last of its rectangle and does not unlink");
  for (const uint64_t alignment : {8, 24}) {
    Refused(large_record, {{kPayload + 4, alignment, 2}},
            fmt::format("WRITE_PACKED_LARGE of 1 targets aligned to {}; at most 35 are allowed",
                        alignment));
  }
}

TEST(Refusal, WaitAndNotify) {
  abi::Wait wait{};
  wait.flags = abi::kWaitBarrier;
  const auto record = Dispatched(abi::DispatchId::kWait, wait);
  Refused(record, {{kPayload + 1, 0x20, 1}}, "WAIT with flags 0x20");
  Refused(record, {{kPayload + 12, 1}}, "a reserved field is not zero");
  const auto notify =
      Dispatched<abi::NotifySubordinate>(abi::DispatchId::kNotifySubordinateGoSignal);
  Refused(notify, {{kPayload + 1, 2, 1}}, "NOTIFY_SUBORDINATE_GO_SIGNAL with wait 2, mask 0x0");
  Refused(notify, {{kPayload + 2, 0x100, 2}},
          "NOTIFY_SUBORDINATE_GO_SIGNAL with wait 0, mask 0x100");
  Refused(notify, {{kPayload + 4, 1, 1}}, "a reserved field is not zero");
}

TEST(Refusal, SettingsAndGoSignals) {
  abi::SetWriteOffset offsets{};
  offsets.offset_count = 1;
  Refused(Dispatched(abi::DispatchId::kSetWriteOffset, offsets, 4), {{kPayload + 1, 5, 1}},
          "SET_WRITE_OFFSET of 5; 1 to 4 are allowed");
  Refused(Dispatched(abi::DispatchId::kSetWriteOffset, offsets, 4), {{kPayload + 4, 1, 1}},
          "a reserved field is not zero");
  abi::SetNumWorkerSems sems{};
  sems.num = 1;
  const auto record = DispatchedS(abi::DispatchId::kSetNumWorkerSems, sems);
  Refused(record, {{kPayload + 4, 0}}, "0 worker streams; 1 to 8 are allowed");
  Refused(record, {{kPayload + 4, 9}}, "9 worker streams; 1 to 8 are allowed");
  Refused(record, {{kPayload + 8, 1}}, "a reserved field is not zero");
  const auto go = DispatchedS<abi::SendGoSignal>(abi::DispatchId::kSendGoSignal);
  Refused(go, {{kPayload + 5, 9, 1}}, "go word 9; there are 9");
  Refused(go, {{kPayload + 6, 1, 1}, {kPayload + 7, 60, 1}},
          "1 unicasts from 60; the table has 60");
  const auto table = DispatchedS<abi::SetGoSignalNocData>(abi::DispatchId::kSetGoSignalNocData);
  Refused(table, {{kPayload + 4, 1}}, "dispatch command 17 ends after 16 bytes");
  Refused(table, {{kPayload + 8, 1}}, "a reserved field is not zero");
}

}  // namespace
}  // namespace ttfd::command_refusal_test
