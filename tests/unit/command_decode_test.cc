// The decoder gives back what was encoded, and refuses what is not a record with offset and reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "runtime/abi/version.h"
#include "runtime/command/control_encoder.h"
#include "runtime/command/decoder.h"
#include "runtime/command/record_file.h"
#include "runtime/command/record_text.h"
#include "runtime/command/record_writer.h"
#include "tests/support/temporary_folder.h"

namespace ttfd::command_decode_test {
namespace {

using testing::HasSubstr;

// An entry of one RELAY_INLINE.
template <typename T>
std::vector<std::byte> Entry(const T& command, std::vector<std::byte> extra = {},
                             abi::DispatcherType to = abi::DispatcherType::kDispatch) {
  const auto size = static_cast<uint32_t>(sizeof(T) + extra.size());
  std::vector<std::byte> entry(InlineRecordBytes(size));
  RecordWriter writer(entry);
  MutableByteSpan rest = to == abi::DispatcherType::kDispatch
                             ? writer.Dispatch(command, static_cast<uint32_t>(extra.size()))
                             : writer.DispatchS(command, static_cast<uint32_t>(extra.size()));
  std::copy(extra.begin(), extra.end(), rest.begin());
  return entry;
}

template <typename T>
T Make(abi::DispatchId id) {
  T command{};
  command.id = id;
  return command;
}

void ExpectRefused(const std::vector<std::byte>& entry, const char* reason) {
  const auto decoded = DecodeEntry(entry);
  ASSERT_FALSE(decoded.ok()) << "expected: " << reason;
  EXPECT_EQ(decoded.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(StatusMessage(decoded.status())), HasSubstr(reason));
}

template <typename T>
void ExpectSameHeader(const std::vector<std::byte>& entry, const T& command) {
  const auto decoded = DecodeEntry(entry);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  ASSERT_EQ(decoded->size(), 1u);
  ASSERT_TRUE((*decoded)[0].dispatch.has_value());
  const T* found = std::get_if<T>(&(*decoded)[0].dispatch->header);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(std::memcmp(found, &command, sizeof(T)), 0);
}

TEST(Decode, GivesBackEveryDispatchCommand) {
  auto linear = Make<abi::WriteLinear>(abi::DispatchId::kWriteLinear);
  linear.num_mcast_dests = 3;
  linear.write_offset_index = 2;
  linear.noc_xy = 0xABC123;
  linear.address = 0x1234567890;
  linear.length = 32;
  ExpectSameHeader(Entry(linear, std::vector<std::byte>(32)), linear);

  auto host = Make<abi::WriteLinearHHost>(abi::DispatchId::kWriteLinearHHost);
  host.tag = 7;
  host.check = 99;
  host.length = 16 + 48;
  ExpectSameHeader(Entry(host, std::vector<std::byte>(48)), host);

  auto paged = Make<abi::WritePaged>(abi::DispatchId::kWritePaged);
  paged.is_dram = 1;
  paged.start_page = 300;
  paged.base_address = 0xFFFFFFF0;
  paged.page_size = 64;
  paged.pages = 2;
  ExpectSameHeader(Entry(paged, std::vector<std::byte>(128)), paged);

  auto wait = Make<abi::Wait>(abi::DispatchId::kWait);
  wait.flags = abi::kWaitMemory | abi::kWaitClearStream;
  wait.stream = 50;
  wait.address = 0xA00;
  wait.count = 5;
  ExpectSameHeader(Entry(wait), wait);

  auto notify = Make<abi::NotifySubordinate>(abi::DispatchId::kNotifySubordinateGoSignal);
  notify.wait = 1;
  notify.index_bitmask = 0x81;
  ExpectSameHeader(Entry(notify), notify);

  auto go = Make<abi::SendGoSignal>(abi::DispatchId::kSendGoSignal);
  go.go_signal = 0x80123456;
  go.multicast_go_offset = abi::kNoMulticastGo;
  go.num_unicast_txns = 60;
  go.wait_count = 1 << 20;
  go.wait_stream = 48;
  ExpectSameHeader(Entry(go, {}, abi::DispatcherType::kDispatchS), go);

  auto sems = Make<abi::SetNumWorkerSems>(abi::DispatchId::kSetNumWorkerSems);
  sems.num = 8;
  ExpectSameHeader(Entry(sems, {}, abi::DispatcherType::kDispatchS), sems);

  const auto end = Make<abi::BareDispatch>(abi::DispatchId::kTerminate);
  ExpectSameHeader(Entry(end), end);
  ExpectSameHeader(Entry(end, {}, abi::DispatcherType::kDispatchS), end);
}

TEST(Decode, GivesBackListsAndData) {
  auto packed = Make<abi::WritePacked>(abi::DispatchId::kWritePacked);
  packed.flags = abi::kPackedMulticast;
  packed.count = 2;
  packed.size = 20;
  std::vector<std::byte> extra(16 + 2 * 32);
  StoreAt(extra.data() + 4, uint32_t{11});
  StoreAt(extra.data() + 8, uint32_t{0x777});
  extra[16] = std::byte{0x42};
  const auto packed_entry = Entry(packed, extra);
  auto decoded = DecodeEntry(packed_entry);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  const DecodedDispatch& write = *(*decoded)[0].dispatch;
  EXPECT_EQ(write.targets, (std::vector<DecodedTarget>{{0, 11}, {0x777, 0}}));
  EXPECT_EQ(write.data.size(), 64u);
  EXPECT_EQ(write.data[0], std::byte{0x42});

  auto table = Make<abi::SetGoSignalNocData>(abi::DispatchId::kSetGoSignalNocData);
  table.num_words = 2;
  extra.assign(8, std::byte{1});
  const auto table_entry = Entry(table, extra, abi::DispatcherType::kDispatchS);
  decoded = DecodeEntry(table_entry);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ((*decoded)[0].dispatch->words, (std::vector<uint32_t>{0x01010101, 0x01010101}));
}

TEST(Decode, GivesBackRelaysAndStalls) {
  std::vector<std::byte> entry(4 * 64);
  RecordWriter writer(entry);
  writer.RelayLinear(abi::kNocXyPcieFlag | 5, uint64_t{4} << 58, 1 << 20);
  writer.RelayPaged(true, 6, 0x40, 4096, 77);
  writer.Stall();
  writer.Terminate();
  const auto decoded = DecodeEntry(entry);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  ASSERT_EQ(decoded->size(), 4u);
  const auto& linear = std::get<abi::RelayLinear>((*decoded)[0].prefetch);
  EXPECT_EQ(uint64_t{linear.address}, uint64_t{4} << 58);
  EXPECT_EQ(uint64_t{linear.length}, 1u << 20);
  const auto& paged = std::get<abi::RelayPaged>((*decoded)[1].prefetch);
  EXPECT_EQ(paged.start_page, 6);
  EXPECT_EQ(uint32_t{paged.pages}, 77u);
  EXPECT_EQ(FormatCommand((*decoded)[0]),
            "0x0000 RELAY_LINEAR 1048576 B from host at 0x1000000000000000");
  EXPECT_EQ(FormatCommand((*decoded)[1]),
            "0x0040 RELAY_PAGED 77 pages of 4096 B from DRAM bank 6 at 0x40");
  EXPECT_EQ(FormatCommand((*decoded)[2]), "0x0080 STALL");
  EXPECT_EQ(FormatCommand((*decoded)[3]), "0x00c0 TERMINATE");
}

TEST(Decode, RefusesBadEntries) {
  ExpectRefused({}, "an entry of 0 bytes");
  ExpectRefused(std::vector<std::byte>(63), "an entry of 63 bytes");
  ExpectRefused(std::vector<std::byte>(64), "offset 0x0: prefetch command 0");
  std::vector<std::byte> entry(128);
  RecordWriter writer(entry);
  writer.Stall();
  entry[64] = std::byte{15};
  ExpectRefused(entry, "offset 0x40: prefetch command 15");
  entry.assign(64, std::byte{0});
  entry[0] = std::byte{9};
  entry[20] = std::byte{1};
  ExpectRefused(entry, "padding is not zero");
}

TEST(Decode, RefusesBadPrefetchFields) {
  const auto wait = [] {
    auto command = Make<abi::Wait>(abi::DispatchId::kWait);
    command.flags = abi::kWaitBarrier;
    return Entry(command);
  }();
  const auto changed = [&wait](size_t at, int value) {
    auto entry = wait;
    entry[at] = static_cast<std::byte>(value);
    return entry;
  };
  ASSERT_TRUE(DecodeEntry(wait).ok());
  ExpectRefused(changed(4, 15), "payload of 15 bytes; 16 to 48 fit here");
  ExpectRefused(changed(4, 49), "payload of 49 bytes");
  ExpectRefused(changed(8, 128), "stride 128 for a payload of 16; it must be 64");
  ExpectRefused(changed(1, 2), "dispatcher 2; there are 0 and 1");
  ExpectRefused(changed(2, 1), "a reserved field is not zero");
  ExpectRefused(changed(50, 1), "padding is not zero");
  ExpectRefused(changed(0, 6), "NOFLUSH with 16 bytes of dispatch command 7");

  std::vector<std::byte> entry(64);
  RecordWriter(entry).RelayLinear(1, 0, 0);
  ExpectRefused(entry, "RELAY_LINEAR of 0 bytes");
  RecordWriter(entry).RelayPaged(true, 0, 0, 96, 1);
  ExpectRefused(entry, "both must be multiples of 64");
  RecordWriter(entry).RelayPaged(true, 0, 0, 128, 0);
  ExpectRefused(entry, "RELAY_PAGED of 0 pages");
}

TEST(Decode, RefusesBadDispatchFields) {
  ExpectRefused(Entry(Make<abi::BareDispatch>(abi::DispatchId::kMax)),
                "dispatch command 18 is not in the command set");
  ExpectRefused(Entry(Make<abi::SendGoSignal>(abi::DispatchId::kSendGoSignal)),
                "dispatch command 14 sent to the dispatcher");
  ExpectRefused(Entry(Make<abi::Wait>(abi::DispatchId::kWait), {}, abi::DispatcherType::kDispatchS),
                "dispatch command 7 sent to dispatch_s");
  auto linear = Make<abi::WriteLinear>(abi::DispatchId::kWriteLinear);
  ExpectRefused(Entry(linear), "WRITE_LINEAR of 0 bytes");
  linear.length = 32;
  ExpectRefused(Entry(linear, std::vector<std::byte>(16)),
                "16 bytes of data where dispatch command 1 says 32");
  linear.write_offset_index = 4;
  ExpectRefused(Entry(linear), "write offset 4; there are 4");
  auto paged = Make<abi::WritePaged>(abi::DispatchId::kWritePaged);
  paged.pages = 1;
  paged.page_size = 8;
  ExpectRefused(Entry(paged), "pages are multiples of 16");
  auto host = Make<abi::WriteLinearHHost>(abi::DispatchId::kWriteLinearHHost);
  ExpectRefused(Entry(host), "a completion record of 0 bytes");
  host.length = 16;
  host.is_event = 2;
  ExpectRefused(Entry(host), "is_event is 2");
  ExpectRefused(Entry(Make<abi::Wait>(abi::DispatchId::kWait)), "WAIT with flags 0x0");
  ExpectRefused(Entry(Make<abi::SetWriteOffset>(abi::DispatchId::kSetWriteOffset)),
                "SET_WRITE_OFFSET of 0");
  auto wait = Make<abi::Wait>(abi::DispatchId::kWait);
  wait.flags = 1;
  ExpectRefused(Entry(wait, std::vector<std::byte>(4)), "4 bytes behind the end");
}

TEST(Decode, RefusesBadLists) {
  auto packed = Make<abi::WritePacked>(abi::DispatchId::kWritePacked);
  ExpectRefused(Entry(packed), "WRITE_PACKED of 0 targets");
  packed.count = 5;
  packed.size = 16;
  ExpectRefused(Entry(packed, std::vector<std::byte>(16)), "ends after 32 bytes");
  packed.count = 1;
  ExpectRefused(Entry(packed, std::vector<std::byte>(16)), "0 bytes of data");
  packed.flags = abi::kPackedNoStride;
  packed.size = 4080;
  ExpectRefused(Entry(packed, std::vector<std::byte>(16 + 4080)), "leaves the first page");
  auto large = Make<abi::WritePackedLarge>(abi::DispatchId::kWritePackedLarge);
  large.count = 36;
  large.alignment = 16;
  ExpectRefused(Entry(large), "WRITE_PACKED_LARGE of 36 targets");
  large.count = 1;
  ExpectRefused(Entry(large), "ends after 16 bytes");
  auto table = Make<abi::SetGoSignalNocData>(abi::DispatchId::kSetGoSignalNocData);
  table.num_words = 61;
  ExpectRefused(Entry(table, {}, abi::DispatcherType::kDispatchS), "at most 60");
}

class RecordFile : public testing::Test {
 protected:
  static std::vector<std::byte> Read(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    EXPECT_NE(file, nullptr);
    std::vector<std::byte> bytes(1 << 16);
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
    std::fclose(file);
    return bytes;
  }
};

TEST_F(RecordFile, GivesBackEntriesAndPrintsThem) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/test.rec";
  auto wait = Make<abi::Wait>(abi::DispatchId::kWait);
  wait.flags = abi::kWaitBarrier | abi::kWaitStream;
  wait.stream = 48;
  wait.count = 130;
  const auto entry = Entry(wait);
  {
    auto writer = RecordFileWriter::Create(path);
    ASSERT_TRUE(writer.ok()) << writer.status().ToString();
    (*writer)->Append(0, 1'500, entry);
    (*writer)->Append(1, 2'000'000, entry);
    ASSERT_TRUE((*writer)->Finish().ok());
  }
  auto bytes = Read(path);
  uint32_t version = 0;
  const auto entries = ParseRecordFile(bytes, &version);
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ(version, abi::kProtocolVersion);
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].nanoseconds, 1'500u);
  EXPECT_TRUE(std::equal(entry.begin(), entry.end(), (*entries)[1].bytes.begin(),
                         (*entries)[1].bytes.end()));
  std::vector<std::string> lines;
  const auto print = [&lines](std::string_view line) { lines.emplace_back(line); };
  ASSERT_TRUE(FormatRecordFile(bytes, print).ok());
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[3], "entry 1 CQ1 at 2000 us, 64 B");
  EXPECT_EQ(lines[4], "  0x0000 RELAY_INLINE dispatch: WAIT barrier|stream stream 48 count 130");

  bytes.resize(bytes.size() - 1);
  EXPECT_THAT(std::string(StatusMessage(FormatRecordFile(bytes, print))),
              HasSubstr("offset 0x70: the file ends inside an entry of 64 bytes"));
  bytes[0] = std::byte{'X'};
  EXPECT_THAT(std::string(StatusMessage(FormatRecordFile(bytes, print))),
              HasSubstr("not a record file"));
}

TEST_F(RecordFile, SaysWhenItCannotBeWritten) {
  EXPECT_EQ(RecordFileWriter::Create("/nonexistent/x").status().code(), StatusCode::kUnavailable);
  auto full = RecordFileWriter::Create("/dev/full");
  ASSERT_TRUE(full.ok());
  (*full)->Append(0, 0, std::vector<std::byte>(64));
  EXPECT_EQ((*full)->Finish().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ttfd::command_decode_test
