// The scan of a message's bytes against protobuf's own parser: what that accepts has the same number of nested
// messages, what the scan refuses is no message; costs are those of the API; a hostile message is refused early.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/wire_format_lite.h>

#include <optional>
#include <string>
#include <vector>

#include "daemon/api/request.h"
#include "daemon/api/status_reason.h"
#include "daemon/rpc/message_scan.h"
#include "tests/support/random.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::rpc_scan_test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr ScanLimits kLimits{4 << 20, 32768};
constexpr ScanLimits kAnyCommands{4 << 20, 32768, UINT64_MAX / 2};

ByteSpan Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

StatusOr<MessageScan> Scan(const std::string& text, const ScanLimits& limits = kLimits) {
  const ByteSpan segment = Bytes(text);
  return ScanMessage({&segment, 1}, limits);
}

uint64_t VarintBytes(uint64_t value) {
  uint64_t bytes = 1;
  for (; value >= 128; value /= 128) ++bytes;
  return bytes;
}

// Of a message that is a field with a number below 16.
uint64_t BytesOfField(const Message& message) {
  const uint64_t size = message.ByteSizeLong();
  return 1 + VarintBytes(size) + size;
}

// ---- The reference: the messages within a message, and within its bytes.

uint64_t NestedOf(const Message& message) {
  const Reflection* const reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  uint64_t count = 0;
  for (const FieldDescriptor* field : fields) {
    if (field->type() != FieldDescriptor::TYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      count += 1 + NestedOf(reflection->GetMessage(message, field));
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
      count += 1 + NestedOf(reflection->GetRepeatedMessage(message, field, i));
    }
  }
  return count;
}

// False: it is not well formed. Strings and packed numbers are not looked into; tags of more than five bytes pass.
bool AddNestedIn(CodedInputStream* bytes, const Descriptor* type, uint64_t* count) {
  while (const uint32_t tag = bytes->ReadTag()) {
    const FieldDescriptor* const field =
        type->FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    const bool nested =
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED &&
        field != nullptr && field->type() == FieldDescriptor::TYPE_MESSAGE;
    if (!nested) {
      if (!WireFormatLite::SkipField(bytes, tag)) return false;
      continue;
    }
    uint32_t size = 0;
    if (!bytes->ReadVarint32(&size)) return false;
    if (static_cast<int>(size) < 0 || static_cast<int>(size) > bytes->BytesUntilLimit())
      return false;
    const auto limit = bytes->PushLimit(static_cast<int>(size));
    ++*count;
    if (!AddNestedIn(bytes, field->message_type(), count)) return false;
    bytes->PopLimit(limit);
  }
  return bytes->ConsumedEntireMessage();
}

std::optional<uint64_t> NestedIn(const std::string& bytes) {
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  stream.PushLimit(static_cast<int>(bytes.size()));
  uint64_t count = 0;
  if (!AddNestedIn(&stream, v1::ClientMessage::descriptor(), &count)) return std::nullopt;
  return count;
}

void ExpectAgreement(const std::string& bytes, const StatusOr<MessageScan>& scan, int* parsed,
                     int* refused) {
  const std::optional<uint64_t> nested = NestedIn(bytes);
  if (scan.ok()) {
    ASSERT_TRUE(nested.has_value());
    ASSERT_EQ(scan->nested, *nested);
  } else {
    ASSERT_EQ(scan.status().code(), StatusCode::kInvalidArgument);
  }
  const bool accepted = v1::ClientMessage().ParseFromString(bytes);
  ASSERT_TRUE(scan.ok() || !accepted) << scan.status();
  *parsed += accepted ? 1 : 0;
  *refused += scan.ok() ? 0 : 1;
}

// ---- Messages drawn from a seed.

void Fill(Message* message, Random& random, int depth);

void SetField(Message* message, const FieldDescriptor* field, Random& random, int depth) {
  const Reflection* const reflection = message->GetReflection();
  const bool repeated = field->is_repeated();
  const uint64_t number = random() >> random() % 32;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (depth > 8) return;
      return Fill(repeated ? reflection->AddMessage(message, field)
                           : reflection->MutableMessage(message, field),
                  random, depth + 1);
    case FieldDescriptor::CPPTYPE_UINT64:
      return repeated ? reflection->AddUInt64(message, field, number)
                      : reflection->SetUInt64(message, field, number);
    case FieldDescriptor::CPPTYPE_UINT32:
      return repeated ? reflection->AddUInt32(message, field, static_cast<uint32_t>(number))
                      : reflection->SetUInt32(message, field, static_cast<uint32_t>(number));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection->SetBool(message, field, true);
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection->SetEnumValue(message, field, static_cast<int>(random() % 4));
    default:
      return reflection->SetString(message, field, std::string(random() % 200, 's'));
  }
}

void Fill(Message* message, Random& random, int depth) {
  const Descriptor* const type = message->GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* const field = type->field(i);
    const uint32_t most = field->is_repeated() && depth < 5 ? 4 : 2;
    for (uint32_t left = random() % most; left > 0; --left) SetField(message, field, random, depth);
  }
}

std::string Mutated(std::string bytes, Random& random) {
  for (uint32_t left = 1 + random() % 3; left > 0 && !bytes.empty(); --left) {
    const size_t at = random() % bytes.size();
    switch (random() % 6) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.insert(at, 1 + random() % 3, static_cast<char>(random()));
        break;
      case 2:
        bytes.erase(at, 1 + random() % 3);
        break;
      case 3:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 4:  // an unknown field, or the begin or end of a group
        bytes.insert(at, 1, static_cast<char>((random() % 15 + 1) << 3 | random() % 8));
        break;
      default:
        bytes[at] = static_cast<char>(random());
    }
  }
  return bytes;
}

// Cuts the bytes anywhere; some segments are empty.
StatusOr<MessageScan> ScanInSegments(const std::string& bytes, Random& random) {
  std::vector<ByteSpan> segments;
  for (size_t at = 0; at < bytes.size();) {
    const size_t size = std::min<size_t>(random() % 40, bytes.size() - at);
    segments.push_back(Bytes(bytes).subspan(at, size));
    at += size;
  }
  return ScanMessage(segments, kAnyCommands);
}

TEST(MessageScan, RandomMessages_HaveTheirCountsAndCosts) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    v1::ClientMessage message;
    Fill(&message, random, 0);
    const std::string bytes = message.SerializeAsString();
    const StatusOr<MessageScan> scan = ScanInSegments(bytes, random);
    ASSERT_TRUE(scan.ok()) << scan.status();
    EXPECT_EQ(scan->nested, NestedOf(message));
    EXPECT_EQ(scan->bytes, bytes.size());
    const bool charged = message.batches_size() + message.data_size() > 0;
    EXPECT_EQ(scan->cost, charged ? bytes.size() + scan->commands.size() * kCommandBytes : 0);
    std::vector<uint32_t> commands;
    for (const v1::Batch& batch : message.batches()) {
      uint64_t rest = BytesOfField(batch);
      const size_t first = commands.size();
      for (const v1::Command& command : batch.commands()) {
        const uint64_t command_bytes = BytesOfField(command);
        commands.push_back(static_cast<uint32_t>(command_bytes + kCommandBytes));
        rest -= command_bytes;
      }
      if (first < commands.size()) commands[first] += static_cast<uint32_t>(rest);
    }
    EXPECT_EQ(scan->commands, commands);
    ASSERT_EQ(scan->data.size(), static_cast<size_t>(message.data_size()));
    for (int i = 0; i < message.data_size(); ++i) {
      EXPECT_EQ(scan->data[static_cast<size_t>(i)], BytesOfField(message.data(i)));
    }
    if (HasFailure()) return;
  }
}

TEST(MessageScan, MutatedMessages_AgreeWithProtobuf) {
  const google::protobuf::LogSilencer silencer;
  int parsed = 0;
  int refused = 0;
  for (uint32_t seed = 1; seed <= 30'000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    v1::ClientMessage message;
    Fill(&message, random, seed % 3 == 0 ? 0 : 5);
    const std::string bytes = Mutated(message.SerializeAsString(), random);
    ExpectAgreement(bytes, ScanInSegments(bytes, random), &parsed, &refused);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(parsed, 3000);
  EXPECT_GT(refused, 3000);
}

TEST(MessageScan, RandomBytes_AgreeWithProtobuf) {
  const google::protobuf::LogSilencer silencer;
  int parsed = 0;
  int refused = 0;
  for (uint32_t seed = 1; seed <= 30'000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::string bytes(random() % 12, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : random() % 90);
    ExpectAgreement(bytes, ScanInSegments(bytes, random), &parsed, &refused);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(parsed, 500);
  EXPECT_GT(refused, 500);
}

TEST(MessageScan, Cost_OfMessagesWithoutCommandsIsZero) {
  v1::ClientMessage message;
  message.set_sequence(7);
  message.set_ack(9);
  message.add_open_queues()->add_workers()->set_x1(3);
  message.add_cancels()->set_queue(2);
  message.mutable_finish();
  const StatusOr<MessageScan> scan = Scan(message.SerializeAsString());
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(scan->cost, 0u);
  EXPECT_EQ(scan->nested, 4u);
  EXPECT_THAT(scan->commands, IsEmpty());
  message.add_batches();
  EXPECT_EQ(Scan(message.SerializeAsString())->cost, message.ByteSizeLong())
      << "a batch makes all of the message count";
}

TEST(MessageScan, EmptyMessage_IsAMessage) {
  const StatusOr<MessageScan> scan = Scan("");
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(scan->nested, 0u);
  EXPECT_TRUE(ScanMessage({}, kLimits).ok()) << "without a segment";
}

TEST(MessageScan, TruncatedLength_IsRefused) {
  v1::ClientMessage message;
  message.add_data()->set_payload("payload");
  const std::string bytes = message.SerializeAsString();
  for (size_t size = 1; size < bytes.size(); ++size) {
    const StatusOr<MessageScan> scan = Scan(bytes.substr(0, size));
    EXPECT_EQ(scan.status().code(), StatusCode::kInvalidArgument) << size;
    EXPECT_THAT(StatusMessage(scan.status()), HasSubstr("not a ClientMessage"));
  }
  std::string inner = bytes;
  inner[inner.size() - 8] = 8;  // the payload's length leaves its message
  EXPECT_THAT(StatusMessage(Scan(inner).status()),
              HasSubstr("a field that is longer than its message at byte 4 of 11"));
}

TEST(MessageScan, Groups_AreAcceptedAsDeepAsProtobufDoes) {
  for (const size_t depth : {1u, 99u, 100u, 101u, 5000u}) {
    const std::string bytes = std::string(depth, '\x7b') + std::string(depth, '\x7c');  // field 15
    EXPECT_EQ(Scan(bytes).ok(), v1::ClientMessage().ParseFromString(bytes)) << depth;
    EXPECT_EQ(Scan(bytes).ok(), depth <= 100) << depth;
  }
  EXPECT_FALSE(Scan("\x7b").ok()) << "a group without an end";
  EXPECT_FALSE(Scan("\x7b\x74").ok()) << "the end of another";
}

// ---- Limits.

void ExpectLimit(const Status& status, const std::string& name, uint64_t value) {
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  const auto limit = LimitOf(status);
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->limit, name);
  EXPECT_EQ(limit->value, value);
}

TEST(MessageScan, MessageBytes_AreLimited) {
  v1::ClientMessage message;
  message.add_data()->set_payload(std::string(1000, 'p'));
  const std::string bytes = message.SerializeAsString();
  EXPECT_TRUE(Scan(bytes, {bytes.size(), 10}).ok());
  ExpectLimit(Scan(bytes, {bytes.size() - 1, 10}).status(), "message_bytes", bytes.size() - 1);
}

TEST(MessageScan, NestedMessages_AreLimited) {
  v1::ClientMessage message;
  for (int i = 0; i < 10; ++i) message.add_batches();
  EXPECT_TRUE(Scan(message.SerializeAsString(), {1000, 10}).ok());
  message.mutable_batches(0)->add_waits();
  ExpectLimit(Scan(message.SerializeAsString(), {1000, 10}).status(), "nested_messages", 10);
}

TEST(MessageScan, NestedMessagesOfACommand_AreLimitedByItsBytes) {
  const auto scan = [](int empty, int words) {
    v1::ClientMessage message;
    message.add_batches()->add_commands()->mutable_barrier();  // in no other command's count
    v1::Launch* const launch = message.mutable_batches(0)->add_commands()->mutable_launch();
    for (int i = 0; i < empty; ++i) launch->add_arguments();
    if (words > 0) {
      for (int i = 0; i < words; ++i) launch->mutable_arguments(0)->add_common(1);
    }
    return Scan(message.SerializeAsString());
  };
  // An empty message has 2 bytes. Tags and lengths of command and launch are 6, of the words 4.
  EXPECT_TRUE(scan(131, 0).ok());
  ExpectLimit(scan(132, 0).status(), "nested_messages", 64 + 270 / 4);
  EXPECT_TRUE(scan(1132, 1000).ok()) << "for each word one more";
  EXPECT_FALSE(scan(2300, 1000).ok());
}

TEST(MessageScan, UnknownFields_CountTowardsNestedMessages) {
  const std::string field = "\x78\x01";  // field 15, a number
  std::string bytes;
  for (int i = 0; i < 10; ++i) bytes += field;
  EXPECT_TRUE(Scan(bytes, {1000, 10}).ok());
  EXPECT_EQ(Scan(bytes, {1000, 10})->nested, 0u) << "and are not charged";
  ExpectLimit(Scan(bytes + field, {1000, 10}).status(), "nested_messages", 10);
}

TEST(MessageScan, RepetitionsOfASingleField_CountTowardsNestedMessages) {
  std::string bytes;
  for (int i = 0; i < 11; ++i) bytes += "\x18\x01";  // ack
  ASSERT_EQ(v1::ClientMessage::kAckFieldNumber, 3);
  EXPECT_TRUE(Scan(bytes, {1000, 10}).ok());
  ExpectLimit(Scan(bytes + "\x18\x02", {1000, 10}).status(), "nested_messages", 10);
  v1::ClientMessage message;
  v1::Free* const free = message.add_batches()->add_commands()->mutable_free();
  for (uint64_t i = 1; i <= 100; ++i) free->add_handles(i);
  EXPECT_TRUE(Scan(message.SerializeAsString(), {1000, 3}).ok()) << "a list may be long";
}

TEST(MessageScan, QueueEntries_AreLimited) {
  const auto with = [](int opens, int cancels) {
    v1::ClientMessage message;
    for (int i = 0; i < opens; ++i) message.add_open_queues();
    for (int i = 0; i < cancels; ++i) message.add_cancels();
    return message.SerializeAsString();
  };
  ScanLimits limits{1000, 100};
  limits.queue_entries = 4;
  EXPECT_TRUE(Scan(with(4, 4), limits).ok());
  ExpectLimit(Scan(with(5, 0), limits).status(), "queues", 2);
  ExpectLimit(Scan(with(0, 5), limits).status(), "queues", 2);
}

TEST(MessageScan, SequenceAndAck_AreThoseThatProtobufReads) {
  v1::ClientMessage message;
  message.set_sequence(uint64_t{1} << 52);
  message.set_ack(300);
  const auto scan = Scan(message.SerializeAsString(), {1000, 10});
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(scan->sequence, message.sequence());
  EXPECT_EQ(scan->ack, 300u);
}

// Segments of 16 KiB, as a connection delivers them. The scan may look only at as many as the limit allows: the others
// are not there.
TEST(MessageScan, HostileMessage_IsRefusedEarly) {
  constexpr size_t kSegmentBytes = 16 << 10;
  // A launch with as many empty Arguments as fit 4 MiB; unknown numbers; begins of groups.
  const std::string arguments(kSegmentBytes, '\0');
  std::string hostile_arguments;
  while (hostile_arguments.size() < kSegmentBytes) hostile_arguments += std::string("\x12\x00", 2);
  const auto length = [](uint32_t size) {
    std::string varint;
    for (; size >= 128; size /= 128) varint += static_cast<char>(size % 128 + 128);
    return varint + static_cast<char>(size);
  };
  constexpr uint32_t kBytes = (4 << 20) - 100;
  const std::string head =
      "\x2a" + length(kBytes + 10) + "\x22" + length(kBytes + 5) + "\x52" + length(kBytes);
  std::string numbers;
  while (numbers.size() < kSegmentBytes) numbers += "\x78\x01";
  struct Case {
    std::string head;
    std::string segment;
  };
  for (const Case& one : {Case{head, hostile_arguments}, Case{"", numbers}}) {
    // Every segment behind those that may be needed lies in no memory: to look at it would be a fault.
    const size_t needed = kLimits.nested_messages * 2 / kSegmentBytes + 1;
    std::vector<ByteSpan> segments = {Bytes(one.head)};
    for (size_t i = 0; i < needed; ++i) segments.push_back(Bytes(one.segment).first(kSegmentBytes));
    const auto* const nowhere = reinterpret_cast<const std::byte*>(16);
    segments.emplace_back(nowhere, (4 << 20) - one.head.size() - needed * kSegmentBytes);
    const StatusOr<MessageScan> scan = ScanMessage(segments, kLimits);
    ExpectLimit(scan.status(), "nested_messages", kLimits.nested_messages);
  }
}

TEST(MessageScan, Commands_AreListedOverAllBatches) {
  v1::ClientMessage message;
  message.add_batches()->add_commands()->mutable_barrier();
  message.add_batches();
  message.add_batches()->add_waits();
  message.mutable_batches(2)->add_commands();
  message.mutable_batches(2)->add_commands();
  const StatusOr<MessageScan> scan = Scan(message.SerializeAsString());
  ASSERT_TRUE(scan.ok());
  // Batch, command, barrier; batch, wait, command; command: 2 bytes each.
  EXPECT_THAT(scan->commands,
              ElementsAre(6u + kCommandBytes, 6u + kCommandBytes, 2u + kCommandBytes));
  EXPECT_EQ(scan->cost, 16u + 3 * kCommandBytes) << "the empty batch is in no share";
}

}  // namespace
}  // namespace ttfd::rpc_scan_test
