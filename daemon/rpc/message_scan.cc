// The wire format of protobuf, read field by field.
#include "daemon/rpc/message_scan.h"

#include <google/protobuf/descriptor.h>

#include <array>
#include <limits>
#include <map>
#include <utility>

#include "daemon/api/errors.h"
#include "daemon/api/request.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// The wire types of the protobuf encoding.
enum WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroupBegin = 3,
  kGroupEnd = 4,
  kFixed32 = 5,
};

// Nesting that protobuf's parser accepts, its default.
constexpr size_t kMaxDepth = 100;

// Kind of a nested message in the accounting of the window.
enum class Share : uint8_t { kNone, kBatch, kCommand, kData, kQueueEntry };

struct Field {
  uint8_t wire_types = 0;  // a bit for each that it may have; 0: there is no such field
  bool is_message = false;
  bool is_repeated = false;
  Share share = Share::kNone;
  size_t type = 0;  // of a message: index of its type
};

// The fields of every message type that can be within a ClientMessage, by number. Made once.
class FieldTable {
 public:
  static const FieldTable& Get() {
    static const FieldTable table;
    return table;
  }
  // Field of the type with this index; 0 is ClientMessage.
  const Field& Find(size_t type, uint32_t number) const {
    static constexpr Field kUnknown;
    const std::vector<Field>& fields = types_[type];
    return number < fields.size() ? fields[number] : kUnknown;
  }

 private:
  FieldTable() { Add(v1::ClientMessage::descriptor()); }

  size_t Add(const Descriptor* message) {
    const auto [known, added] = indices_.try_emplace(message, types_.size());
    if (!added) return known->second;
    const size_t index = types_.size();
    types_.emplace_back();
    for (int i = 0; i < message->field_count(); ++i) {
      const FieldDescriptor* const field = message->field(i);
      Field entry = FieldOf(field);
      if (entry.is_message) entry.type = Add(field->message_type());
      const auto number = static_cast<size_t>(field->number());
      if (types_[index].size() <= number) types_[index].resize(number + 1);
      types_[index][number] = entry;
    }
    return index;
  }

  static Field FieldOf(const FieldDescriptor* field) {
    Field entry;
    entry.is_message = field->type() == FieldDescriptor::TYPE_MESSAGE;
    entry.is_repeated = field->is_repeated();
    entry.wire_types = static_cast<uint8_t>(1u << WireTypeOf(field));
    if (field->is_packable()) entry.wire_types |= 1u << kBytes;
    const Descriptor* const parent = field->containing_type();
    if (parent == v1::ClientMessage::descriptor()) {
      if (field->number() == v1::ClientMessage::kBatchesFieldNumber) entry.share = Share::kBatch;
      if (field->number() == v1::ClientMessage::kDataFieldNumber) entry.share = Share::kData;
      if (field->number() == v1::ClientMessage::kOpenQueuesFieldNumber ||
          field->number() == v1::ClientMessage::kCancelsFieldNumber) {
        entry.share = Share::kQueueEntry;
      }
    } else if (parent == v1::Batch::descriptor() &&
               field->number() == v1::Batch::kCommandsFieldNumber) {
      entry.share = Share::kCommand;
    }
    return entry;
  }

  static WireType WireTypeOf(const FieldDescriptor* field) {
    switch (field->type()) {
      case FieldDescriptor::TYPE_DOUBLE:
      case FieldDescriptor::TYPE_FIXED64:
      case FieldDescriptor::TYPE_SFIXED64:
        return kFixed64;
      case FieldDescriptor::TYPE_FLOAT:
      case FieldDescriptor::TYPE_FIXED32:
      case FieldDescriptor::TYPE_SFIXED32:
        return kFixed32;
      case FieldDescriptor::TYPE_STRING:
      case FieldDescriptor::TYPE_BYTES:
      case FieldDescriptor::TYPE_MESSAGE:
        return kBytes;
      case FieldDescriptor::TYPE_GROUP:
        return kGroupBegin;
      default:
        return kVarint;
    }
  }

  std::vector<std::vector<Field>> types_;
  std::map<const Descriptor*, size_t> indices_;
};

// A position in bytes that lie in segments.
class Cursor {
 public:
  explicit Cursor(std::span<const ByteSpan> segments) : segments_(segments) {
    for (const ByteSpan& segment : segments) size_ += segment.size();
    NextSegment();
  }
  uint64_t size() const { return size_; }
  uint64_t position() const { return before_ + at_; }

  // False: the bytes end before. Leaves the position at the end then.
  bool Skip(uint64_t count) {
    while (count > segment_.size() - at_) {
      count -= segment_.size() - at_;
      at_ = segment_.size();
      if (!NextSegment()) return false;
    }
    at_ += count;
    return true;
  }
  bool Read(uint8_t* byte) {
    while (at_ == segment_.size()) {
      if (!NextSegment()) return false;
    }
    *byte = static_cast<uint8_t>(segment_[at_++]);
    return true;
  }
  // At most `most` bytes long; what does not fit 64 bits is cut off.
  bool ReadVarint(size_t most, uint64_t* value) {
    *value = 0;
    for (size_t i = 0; i < most; ++i) {
      uint8_t byte = 0;
      if (!Read(&byte)) return false;
      *value |= uint64_t{byte & 0x7Fu} << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }

 private:
  bool NextSegment() {
    if (next_ == segments_.size()) return false;
    before_ += segment_.size();
    segment_ = segments_[next_++];
    at_ = 0;
    return true;
  }

  const std::span<const ByteSpan> segments_;
  uint64_t size_ = 0;
  size_t next_ = 0;      // index of the segment after `segment_`
  uint64_t before_ = 0;  // bytes of the segments before `segment_`
  ByteSpan segment_;
  size_t at_ = 0;
};

class Scanner {
 public:
  Scanner(std::span<const ByteSpan> segments, const ScanLimits& limits)
      : limits_(limits), cursor_(segments) {}

  StatusOr<MessageScan> Run() {
    scan_.bytes = cursor_.size();
    if (scan_.bytes > limits_.message_bytes) {
      return ToStatus(LimitError("", "message_bytes", limits_.message_bytes, 0,
                                 fmt::format("a message of {} bytes", scan_.bytes)));
    }
    stack_[0].end = cursor_.size();
    while (true) {
      while (cursor_.position() == top().end && !top().is_group && depth_ > 0) {
        RETURN_IF_ERROR(Close());
      }
      if (cursor_.position() == top().end && depth_ == 0) break;
      RETURN_IF_ERROR(ScanField());
    }
    if (has_batches_ || !scan_.data.empty()) {
      scan_.cost = scan_.bytes + scan_.commands.size() * kCommandBytes;
    }
    return std::move(scan_);
  }

 private:
  // A message, or a group, that has begun and not ended.
  struct Open {
    uint64_t begin = 0;  // of its tag
    uint64_t end = 0;    // of its bytes; of a group: of the message around it
    uint64_t nested_before = 0;
    size_t type = 0;
    Share share = Share::kNone;
    bool is_group = false;
    uint32_t group_number = 0;
    uint64_t seen = 0;  // a bit for each field that occurred
  };

  Open& top() { return stack_[depth_]; }

  Status Malformed(const char* what) const {
    return ToStatus(InvalidError("", "not a ClientMessage: {} at byte {} of {}", what,
                                 cursor_.position(), cursor_.size()));
  }

  Status Count(uint64_t* what) {
    ++*what;
    const uint64_t all = scan_.nested + unknown_;
    if (all <= limits_.nested_messages) return OkStatus();
    return ToStatus(LimitError("", "nested_messages", limits_.nested_messages, 0,
                               fmt::format("a message with at least {} nested messages and unknown "
                                           "fields",
                                           all)));
  }

  Status ScanField() {
    const uint64_t begin = cursor_.position();
    uint64_t tag = 0;
    if (!cursor_.ReadVarint(5, &tag) || cursor_.position() > top().end) {
      return Malformed("a field that is cut off");
    }
    tag &= std::numeric_limits<uint32_t>::max();
    const auto number = static_cast<uint32_t>(tag >> 3);
    const auto wire_type = static_cast<uint8_t>(tag & 7);
    if (number == 0) return Malformed("field number 0");
    if (wire_type == kGroupEnd) return EndGroup(number);
    const Field& field = top().is_group ? FieldTable::Get().Find(0, 0)  // nothing is known there
                                        : FieldTable::Get().Find(top().type, number);
    const bool known = (field.wire_types >> wire_type & 1) != 0;
    if (!known || Repeats(field, number)) RETURN_IF_ERROR(Count(&unknown_));
    if (wire_type == kGroupBegin) {
      Open group;
      group.end = top().end;
      group.is_group = true;
      group.group_number = number;
      return Push(group);
    }
    uint64_t size = 0;
    if (wire_type == kVarint) {
      uint64_t value = 0;
      if (!cursor_.ReadVarint(10, &value)) return Malformed("a number that is cut off");
      if (depth_ == 0) TakeNumber(number, value);
    } else if (wire_type == kBytes) {
      if (!cursor_.ReadVarint(5, &size)) return Malformed("a length that is cut off");
    } else if (wire_type == kFixed32) {
      size = 4;
    } else if (wire_type == kFixed64) {
      size = 8;
    } else {
      return Malformed("an unknown wire type");
    }
    const uint64_t at = cursor_.position();
    if (at > top().end || size > top().end - at) {
      return Malformed("a field that is longer than its message");
    }
    if (!known || !field.is_message) {
      cursor_.Skip(size);
      return OkStatus();
    }
    Open message{begin, at + size, scan_.nested, field.type, field.share};
    RETURN_IF_ERROR(Count(&scan_.nested));
    if (field.share == Share::kQueueEntry) RETURN_IF_ERROR(CountEntry(number));
    if (field.share == Share::kBatch) {
      has_batches_ = true;
      commands_before_ = scan_.commands.size();
      command_bytes_ = 0;
    }
    return Push(message);
  }

  // A field that is set once occurs again: protobuf makes it anew each time.
  bool Repeats(const Field& field, uint32_t number) {
    if (field.is_repeated || number >= 64) return false;
    const uint64_t bit = uint64_t{1} << number;
    return (std::exchange(top().seen, top().seen | bit) & bit) != 0;
  }

  void TakeNumber(uint32_t number, uint64_t value) {
    if (number == v1::ClientMessage::kSequenceFieldNumber) scan_.sequence = value;
    if (number == v1::ClientMessage::kAckFieldNumber) scan_.ack = value;
  }

  Status CountEntry(uint32_t number) {
    const bool opens = number == v1::ClientMessage::kOpenQueuesFieldNumber;
    if (++(opens ? opened_ : cancelled_) <= limits_.queue_entries) return OkStatus();
    return ToStatus(
        LimitError(opens ? "open_queues" : "cancels", "queues", limits_.queue_entries / 2, 0,
                   fmt::format("a message with more than {} of them", limits_.queue_entries)));
  }

  Status Push(const Open& open) {
    if (depth_ == kMaxDepth) return Malformed("messages nested too deeply");
    stack_[++depth_] = open;
    return OkStatus();
  }

  Status EndGroup(uint32_t number) {
    if (!top().is_group || top().group_number != number) {
      return Malformed("the end of a group that did not begin");
    }
    --depth_;
    return OkStatus();
  }

  Status Close() {
    const Open closed = top();
    --depth_;
    const auto bytes = static_cast<uint32_t>(closed.end - closed.begin);
    switch (closed.share) {
      case Share::kNone:
      case Share::kQueueEntry:
        break;
      case Share::kCommand:
        RETURN_IF_ERROR(CheckCommand(bytes, scan_.nested - closed.nested_before));
        scan_.commands.push_back(bytes + kCommandBytes);
        command_bytes_ += bytes;
        break;
      case Share::kBatch:
        if (scan_.commands.size() > commands_before_) {
          scan_.commands[commands_before_] += bytes - command_bytes_;
        }
        break;
      case Share::kData:
        scan_.data.push_back(bytes);
        break;
    }
    return OkStatus();
  }

  // `nested`: with the command and its operation.
  Status CheckCommand(uint64_t bytes, uint64_t nested) const {
    const uint64_t most = limits_.spare_nested_messages + bytes / kBytesPerNestedMessage;
    if (nested <= most + 2) return OkStatus();
    return ToStatus(LimitError(
        "batches.commands", "nested_messages", most, nested - 2,
        fmt::format("a command of {} bytes with {} nested messages; leave out those without fields",
                    bytes, nested - 2)));
  }

  const ScanLimits& limits_;
  Cursor cursor_;
  MessageScan scan_;
  std::array<Open, kMaxDepth + 1> stack_;
  size_t depth_ = 0;
  uint64_t unknown_ = 0;  // with repetitions
  uint64_t opened_ = 0;
  uint64_t cancelled_ = 0;
  bool has_batches_ = false;
  // Counts of the open batch.
  size_t commands_before_ = 0;
  uint32_t command_bytes_ = 0;
};

}  // namespace

StatusOr<MessageScan> ScanMessage(std::span<const ByteSpan> segments, const ScanLimits& limits) {
  return Scanner(segments, limits).Run();
}

}  // namespace ttfd
