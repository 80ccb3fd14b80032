// Random valid commands of every kind: what the decoder reads, the encoder writes back byte for byte.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "runtime/abi/launch.h"
#include "runtime/command/decoder.h"
#include "runtime/command/record_text.h"
#include "runtime/command/record_writer.h"
#include "tests/support/random.h"

namespace ttfd::command_roundtrip_test {
namespace {

class RandomRecords {
 public:
  explicit RandomRecords(uint32_t seed) : random_(seed) {}

  // A record of one prefetch command, never EXEC_BUF or EXEC_BUF_END, which have their place.
  std::vector<std::byte> Next() {
    std::vector<std::byte> memory(16 * 1024);
    RecordWriter writer(memory);
    switch (Pick(0, 9)) {
      case 0:
        writer.RelayLinear(
            Word(), uint64_t{Word()} << 20 | Pick(0, 99) * 16, Pick(1, ~0u),
            Pick(0, 1) != 0 ? abi::PrefetchId::kRelayLinear : abi::PrefetchId::kRelayLinearH);
        break;
      case 1:
        writer.RelayPaged(Pick(0, 1) != 0, Pick(0, 255), Pick(0, 999) * 64, Pick(512, 1023) * 64,
                          Pick(1, 99), Pick(0, 0x7FFF));
        break;
      case 2:
        writer.RelayPagedPacked(Stretches());
        break;
      case 3:
        writer.RelayRingbuffer(RingStretches());
        break;
      case 4:
        writer.PagedToRingbuffer(RingbufferRead());
        break;
      case 5:
        writer.SetRingbufferOffset(Pick(0, 999) * 64, Pick(0, 1) != 0);
        break;
      case 6:
        writer.Debug(static_cast<uint16_t>(Word()), Data(Pick(0, 200)));
        break;
      case 7:
        Pick(0, 1) != 0 ? writer.Stall() : writer.Terminate();
        break;
      case 8:
        DispatchS(writer);
        break;
      default:
        Dispatch(writer);
        break;
    }
    memory.resize(writer.bytes_written());
    return memory;
  }

  uint32_t Pick(uint32_t from, uint32_t to) {
    const uint64_t range = uint64_t{to} - from + 1;
    return from + static_cast<uint32_t>(random_() * range >> 32);
  }

 private:
  uint32_t Word() { return random_(); }
  std::vector<std::byte> Data(size_t size) {
    std::vector<std::byte> data(size);
    for (std::byte& byte : data) byte = static_cast<std::byte>(random_());
    return data;
  }
  template <typename T>
  T Header(abi::DispatchId id) {
    T command{};
    command.id = id;
    return command;
  }
  // Of all but the last stretch a multiple of 16.
  uint32_t StretchLength(bool last) { return last ? Pick(1, 5000) : Pick(1, 300) * 16; }

  std::vector<abi::RelayPagedPackedTarget> Stretches() {
    std::vector<abi::RelayPagedPackedTarget> list(Pick(1, abi::kMaxPagedPacked));
    for (auto& part : list) {
      part.start_page = static_cast<uint16_t>(Word());
      part.log_page_size = static_cast<uint16_t>(Pick(6, 31));
      part.base_address = Pick(0, 9999) * 64;
      part.length = StretchLength(&part == &list.back());
    }
    return list;
  }
  std::vector<abi::RelayRingbufferTarget> RingStretches() {
    std::vector<abi::RelayRingbufferTarget> list(Pick(1, abi::kMaxRelayRingbuffer));
    for (auto& part : list) {
      part.start = Pick(0, 9999) * 16;
      part.length = StretchLength(&part == &list.back());
    }
    return list;
  }
  abi::PagedToRingbuffer RingbufferRead() {
    abi::PagedToRingbuffer read{};
    read.flags = static_cast<uint8_t>(Pick(0, 1));
    read.log2_page_size = static_cast<uint8_t>(Pick(6, 31));
    read.start_page = static_cast<uint8_t>(Word());
    read.base_address = Pick(0, 9999) * 64;
    read.length = Pick(1, 99) * 64;
    read.wp_offset_update = read.length + Pick(0, 9) * 64;
    return read;
  }

  void DispatchS(RecordWriter& writer) {
    switch (Pick(0, 3)) {
      case 0: {
        auto go = Header<abi::SendGoSignal>(abi::DispatchId::kSendGoSignal);
        go.go_signal = Word();
        go.multicast_go_offset =
            Pick(0, 1) != 0 ? abi::kNoMulticastGo : static_cast<uint8_t>(Pick(0, 8));
        go.noc_data_start_index = static_cast<uint8_t>(Pick(0, abi::kMaxGoNocWords));
        go.num_unicast_txns =
            static_cast<uint8_t>(Pick(0, abi::kMaxGoNocWords - go.noc_data_start_index));
        go.wait_count = Word();
        go.wait_stream = Word();
        writer.DispatchS(go);
        return;
      }
      case 1: {
        auto table = Header<abi::SetGoSignalNocData>(abi::DispatchId::kSetGoSignalNocData);
        table.num_words = Pick(0, abi::kMaxGoNocWords);
        Fill(writer.DispatchS(table, 4 * table.num_words));
        return;
      }
      case 2: {
        auto sems = Header<abi::SetNumWorkerSems>(abi::DispatchId::kSetNumWorkerSems);
        sems.num = Pick(1, 8);
        writer.DispatchS(sems);
        return;
      }
      default:
        writer.DispatchS(Header<abi::BareDispatch>(abi::DispatchId::kTerminate));
    }
  }

  void Dispatch(RecordWriter& writer) {
    switch (Pick(0, 9)) {
      case 0:
        return Linear(writer);
      case 1:
        return Host(writer);
      case 2:
        return Paged(writer);
      case 3:
        return Packed(writer);
      case 4:
        return Large(writer);
      case 5: {
        auto wait = Header<abi::Wait>(abi::DispatchId::kWait);
        wait.flags = static_cast<uint8_t>(Pick(1, 31));
        wait.stream = static_cast<uint16_t>(Pick(0, 63));
        wait.address = Word();
        wait.count = Word();
        writer.Dispatch(wait);
        return;
      }
      case 6: {
        constexpr abi::DispatchId kBare[] = {abi::DispatchId::kSink, abi::DispatchId::kExecBufEnd,
                                             abi::DispatchId::kTerminate};
        const auto bare = Header<abi::BareDispatch>(kBare[Pick(0, 2)]);
        if (Pick(0, 1) == 0) {
          writer.Dispatch(bare);
        } else {
          StoreAt(writer.Dispatch(Header<abi::BareDispatch>(abi::DispatchId::kDebug), sizeof(bare))
                      .data(),
                  bare);
        }
        return;
      }
      case 7: {
        auto delay = Header<abi::Delay>(abi::DispatchId::kDelay);
        delay.delay = Pick(0, abi::kMaxDelayClocks);
        writer.Dispatch(delay);
        return;
      }
      case 8: {
        auto offsets = Header<abi::SetWriteOffset>(abi::DispatchId::kSetWriteOffset);
        offsets.offset_count = static_cast<uint8_t>(Pick(1, abi::kMaxWriteOffsets));
        offsets.program_host_id = static_cast<uint16_t>(Word());
        Fill(writer.Dispatch(offsets, 4u * offsets.offset_count));
        return;
      }
      default: {
        auto notify = Header<abi::NotifySubordinate>(abi::DispatchId::kNotifySubordinateGoSignal);
        notify.wait = static_cast<uint8_t>(Pick(0, 1));
        notify.index_bitmask = static_cast<uint16_t>(Pick(0, 255));
        writer.Dispatch(notify);
      }
    }
  }

  void Fill(MutableByteSpan to) {
    const auto data = Data(to.size());
    std::copy(data.begin(), data.end(), to.begin());
  }
  // With its data, or as a header whose data follows.
  template <typename T>
  void WithData(RecordWriter& writer, const T& header, uint32_t bytes) {
    if (Pick(0, 1) != 0) {
      writer.DispatchHeader(header);
      return;
    }
    Fill(writer.Dispatch(header, bytes));
  }

  void Linear(RecordWriter& writer) {
    auto write = Header<abi::WriteLinear>(Pick(0, 1) != 0 ? abi::DispatchId::kWriteLinear
                                                          : abi::DispatchId::kWriteLinearH);
    write.num_mcast_dests = static_cast<uint8_t>(Word());
    write.write_offset_index = static_cast<uint8_t>(Pick(0, abi::kMaxWriteOffsets - 1));
    write.noc_xy = Word();
    write.address = Word();
    write.length = Pick(1, 9000);
    WithData(writer, write, static_cast<uint32_t>(write.length));
  }
  void Host(RecordWriter& writer) {
    auto host = Header<abi::WriteLinearHHost>(abi::DispatchId::kWriteLinearHHost);
    host.is_event = static_cast<uint8_t>(Pick(0, 1));
    host.tag = static_cast<uint16_t>(Word());
    host.check = Word();
    const uint32_t data = Pick(0, 9000);
    host.length = 16 + data;
    WithData(writer, host, data);
  }
  void Paged(RecordWriter& writer) {
    auto paged = Header<abi::WritePaged>(abi::DispatchId::kWritePaged);
    paged.is_dram = static_cast<uint8_t>(Pick(0, 1));
    paged.start_page = static_cast<uint16_t>(Word());
    paged.base_address = Pick(0, 9999) * 16;
    paged.page_size = Pick(1, 100) * 16;
    paged.pages = Pick(1, 9);
    WithData(writer, paged, paged.pages * paged.page_size);
  }
  void Packed(RecordWriter& writer) {
    auto packed = Header<abi::WritePacked>(abi::DispatchId::kWritePacked);
    packed.flags = static_cast<uint8_t>(Pick(0, 15) << 4 | Pick(0, 3));
    packed.count = static_cast<uint16_t>(Pick(1, 60));
    packed.write_offset_index = static_cast<uint16_t>(Pick(0, abi::kMaxWriteOffsets - 1));
    packed.size = static_cast<uint16_t>(Pick(1, 200));
    packed.address = Word();
    const uint32_t words = packed.count * ((packed.flags & abi::kPackedMulticast) != 0 ? 2u : 1u);
    const uint32_t list = AlignUp(4 * words, 16u);
    const uint32_t packet = AlignUp<uint32_t>(packed.size, 16u);
    const bool shared = (packed.flags & abi::kPackedNoStride) != 0;
    MutableByteSpan extra =
        writer.Dispatch(packed, list + (shared ? packet : packet * packed.count));
    std::fill(extra.begin(), extra.end(), std::byte{0});
    Fill(extra.first(4 * words));
    Fill(extra.subspan(list));
  }
  void Large(RecordWriter& writer) {
    auto large = Header<abi::WritePackedLarge>(abi::DispatchId::kWritePackedLarge);
    large.type = static_cast<uint8_t>(Word());
    large.count = static_cast<uint16_t>(Pick(1, 35));
    large.alignment = static_cast<uint16_t>(16u << Pick(0, 2));
    large.write_offset_index = static_cast<uint16_t>(Pick(0, abi::kMaxWriteOffsets - 1));
    std::vector<abi::WritePackedLargeTarget> targets(large.count);
    uint32_t data = 0;
    for (size_t i = 0; i < targets.size(); ++i) {
      targets[i].rectangle = Pick(0, 1);
      targets[i].address = Word();
      targets[i].length = static_cast<uint16_t>(Pick(1, 200));
      targets[i].num_mcast_dests = static_cast<uint8_t>(Pick(1, 255));
      targets[i].flags = static_cast<uint8_t>(Pick(0, 1));
      data += AlignUp<uint32_t>(targets[i].length, large.alignment);
    }
    for (size_t i = 0; i < targets.size(); ++i) {
      if (i + 1 == targets.size() || targets[i + 1].rectangle != targets[i].rectangle) {
        targets[i].flags = abi::kPackedLargeUnlink;
      }
    }
    const ByteSpan list_bytes = std::as_bytes(std::span(targets));
    const auto list = AlignUp(static_cast<uint32_t>(list_bytes.size()), 16u);
    const bool follows = Pick(0, 1) != 0;
    std::vector<std::byte> extra(list + (follows ? 0 : data));
    std::copy(list_bytes.begin(), list_bytes.end(), extra.begin());
    if (!follows) Fill(MutableByteSpan(extra).subspan(list));
    const auto size = static_cast<uint32_t>(extra.size());
    MutableByteSpan rest =
        follows ? writer.DispatchHeader(large, size) : writer.Dispatch(large, size);
    std::copy(extra.begin(), extra.end(), rest.begin());
  }

  Random random_;
};

std::vector<std::byte> Encoded(const std::vector<DecodedCommand>& commands) {
  std::vector<std::byte> memory(abi::kMaxEntryBytes * 2, std::byte{0xEE});
  RecordWriter writer(memory);
  for (const DecodedCommand& command : commands) writer.Command(command);
  memory.resize(writer.bytes_written());
  return memory;
}

// The names a line of text has: of the prefetch command, and of the dispatch command behind ": ".
void Count(const DecodedCommand& command, std::set<std::string>& prefetch,
           std::set<std::string>& dispatch) {
  const std::string line = FormatCommand(command);
  const size_t name = line.find(' ') + 1;
  prefetch.insert(line.substr(name, line.find(' ', name) - name));
  const size_t colon = line.find(": ");
  if (!command.dispatch.has_value() || colon == std::string::npos) return;
  dispatch.insert(line.substr(colon + 2, line.find(' ', colon + 2) - colon - 2));
}

TEST(CommandRoundTrip, EveryKindOfCommandInEntriesAndBuffers) {
  std::set<std::string> prefetch;
  std::set<std::string> dispatch;
  RandomRecords records(20261121);
  for (int round = 0; round < 3000; ++round) {
    const bool buffer = round % 3 == 0;
    std::vector<std::byte> bytes;
    for (uint32_t left = records.Pick(1, 6); left != 0; --left) {
      const auto record = records.Next();
      bytes.insert(bytes.end(), record.begin(), record.end());
    }
    std::vector<std::byte> end(abi::kEntryAlignment);
    RecordWriter writer(end);
    buffer ? writer.ExecBufEnd()
           : writer.ExecBuf(records.Pick(0, 999) * 64, records.Pick(10, 12), 9);
    bytes.insert(bytes.end(), end.begin(), end.end());
    const size_t size = bytes.size();
    if (buffer) bytes.resize(size + 640, std::byte{0x5A});  // what a page has behind the end
    const auto decoded = buffer ? DecodeExecBuffer(bytes) : DecodeEntry(bytes);
    ASSERT_TRUE(decoded.ok()) << "round " << round << ": " << decoded.status().ToString();
    const auto again = Encoded(*decoded);
    bytes.resize(size);
    ASSERT_EQ(again, bytes) << "round " << round;
    for (const DecodedCommand& command : *decoded) Count(command, prefetch, dispatch);
  }
  EXPECT_EQ(prefetch, (std::set<std::string>{"RELAY_LINEAR", "RELAY_LINEAR_H", "RELAY_PAGED",
                                             "RELAY_PAGED_PACKED", "RELAY_INLINE",
                                             "RELAY_INLINE_NOFLUSH", "EXEC_BUF", "EXEC_BUF_END",
                                             "STALL", "DEBUG", "TERMINATE", "PAGED_TO_RINGBUFFER",
                                             "SET_RINGBUFFER_OFFSET", "RELAY_RINGBUFFER"}));
  EXPECT_EQ(dispatch,
            (std::set<std::string>{"WRITE_LINEAR", "WRITE_LINEAR_H", "WRITE_LINEAR_H_HOST",
                                   "WRITE_PAGED", "WRITE_PACKED", "WRITE_PACKED_LARGE", "WAIT",
                                   "SINK", "DEBUG", "DELAY", "EXEC_BUF_END", "SET_WRITE_OFFSET",
                                   "TERMINATE", "SEND_GO_SIGNAL", "NOTIFY_SUBORDINATE_GO_SIGNAL",
                                   "SET_NUM_WORKER_SEMS", "SET_GO_SIGNAL_NOC_DATA"}));
}

}  // namespace
}  // namespace ttfd::command_roundtrip_test
