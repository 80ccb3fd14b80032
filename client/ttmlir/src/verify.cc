// The verifier.
#include "client/ttmlir/src/verify.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::Status;

constexpr uint32_t kTextValueBytes = 16;  // of a text, that count as one value

class Verifier {
 public:
  Verifier(Bytes bytes, const Profile& profile)
      : bytes_(bytes), profile_(profile), values_left_(MaxValues(bytes.size())) {}

  Status Run();

 private:
  // Where the value being checked lies: fields, and elements of lists.
  struct Step {
    const Field* field = nullptr;
    int64_t element = -1;  // none
  };

  bool Fail(const std::string& problem) {
    problem_ = problem;
    return false;
  }
  bool Fits(uint64_t at, uint64_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }
  bool Count(uint64_t values);
  bool CheckTable(uint64_t at, const Definition& definition);
  bool CheckField(uint64_t table, uint64_t table_bytes, const Field& field);
  // The value of a field that is present.
  bool CheckValue(const Field& field, uint64_t at, std::optional<uint64_t> kind_at);
  bool CheckText(uint64_t at);
  bool CheckList(const Field& field, uint64_t at, std::optional<uint64_t> kinds_at);
  bool CheckMember(const Definition& one, uint8_t number, uint64_t at);
  // The number of elements of the list that the offset at `at` leads to; fails unless all `stride` bytes of each fit.
  std::optional<uint32_t> ElementsOf(uint64_t at, uint64_t stride);
  std::string Path() const;

  const Bytes bytes_;
  const Profile& profile_;
  uint64_t values_left_;
  std::vector<Step> path_;
  int depth_ = 0;  // tables that contain the one being checked
  std::string problem_;
};

bool Verifier::Count(uint64_t values) {
  if (values > values_left_) {
    return Fail(
        fmt::format("more than {} values are reached from the root", MaxValues(bytes_.size())));
  }
  values_left_ -= values;
  return true;
}

std::string Verifier::Path() const {
  std::string path;
  for (const Step& step : path_) {
    if (step.element >= 0) {
      path += fmt::format("[{}]", step.element);
    } else {
      path += (path.empty() ? "" : ".") + step.field->name;
    }
  }
  return path.empty() ? "the root" : path;
}

bool Verifier::CheckTable(uint64_t at, const Definition& definition) {
  if (depth_ == kMaxDepth) return Fail(fmt::format("tables lie more than {} deep", kMaxDepth));
  if (!Count(1 + definition.fields.size())) return false;
  if (!Fits(at, 4)) return Fail("a table lies beyond the end of the file");
  const uint64_t vtable = at - static_cast<int64_t>(LoadAt<int32_t>(bytes_, at));
  if (!Fits(vtable, 4)) return Fail("a table's vtable lies outside the file");
  const uint64_t vtable_bytes = LoadAt<uint16_t>(bytes_, vtable);
  const uint64_t table_bytes = LoadAt<uint16_t>(bytes_, vtable + 2);
  if (vtable_bytes < 4 || vtable_bytes % 2 != 0 || !Fits(vtable, vtable_bytes)) {
    return Fail(fmt::format("a vtable of {} bytes is not one", vtable_bytes));
  }
  if (table_bytes < 4 || !Fits(at, table_bytes)) {
    return Fail(fmt::format("a table of {} bytes does not fit", table_bytes));
  }
  ++depth_;
  for (const Field& field : definition.fields) {
    path_.push_back({.field = &field});
    if (!CheckField(at, table_bytes, field)) return false;
    path_.pop_back();
  }
  --depth_;
  return true;
}

bool Verifier::CheckField(uint64_t table, uint64_t table_bytes, const Field& field) {
  const auto within = [&](std::optional<uint64_t> place, uint64_t size) {
    return !place || (*place - table >= 4 && *place - table + size <= table_bytes);
  };
  const bool is_union = IsUnion(field.type);
  const auto place = SlotAt(bytes_, table, field.place);
  std::optional<uint64_t> kind;
  if (is_union) kind = SlotAt(bytes_, table, field.place - 1);
  if (!within(place, field.type.list ? 4 : BytesInPlace(field.type)) ||
      !within(kind, field.type.list ? 4 : 1)) {
    return Fail("a field lies outside its table");
  }
  if (!place) {
    const bool missing = kind && !field.type.list && LoadAt<uint8_t>(bytes_, *kind) != 0;
    return !missing || Fail("a union has a number, but no value");
  }
  return CheckValue(field, *place, kind);
}

bool Verifier::CheckValue(const Field& field, uint64_t at, std::optional<uint64_t> kind_at) {
  const Type& type = field.type;
  if (type.list) return CheckList(field, at, kind_at);
  if (type.definition == nullptr) return type.basic != Basic::kText || CheckText(at);
  switch (type.definition->kind) {
    case Definition::Kind::kEnum:
    case Definition::Kind::kFlags:
    case Definition::Kind::kStruct:
      return true;
    case Definition::Kind::kTable:
      return CheckTable(TargetAt(bytes_, at), *type.definition);
    case Definition::Kind::kUnion:
      break;
  }
  return CheckMember(*type.definition, kind_at ? LoadAt<uint8_t>(bytes_, *kind_at) : 0, at);
}

bool Verifier::CheckMember(const Definition& one, uint8_t number, uint64_t at) {
  if (number == 0) return Fail("a union has a value, but no number");
  const Definition::Member* const member = one.MemberOf(number);
  if (member == nullptr) return Fail(fmt::format("{} has no member {}", one.name, number));
  return CheckTable(TargetAt(bytes_, at), *member->table);
}

bool Verifier::CheckText(uint64_t at) {
  const auto size = ElementsOf(at, 1);
  if (!size || !Count(*size / kTextValueBytes)) return false;
  const uint64_t end = TargetAt(bytes_, at) + 4 + *size;
  return (Fits(end, 1) && bytes_[end] == 0) || Fail("a text does not end with a zero");
}

std::optional<uint32_t> Verifier::ElementsOf(uint64_t at, uint64_t stride) {
  const uint64_t target = TargetAt(bytes_, at);
  if (Fits(target, 4)) {
    const uint32_t count = LoadAt<uint32_t>(bytes_, target);
    if (Fits(target + 4, count * stride)) return count;
  }
  Fail("a list or text lies beyond the end of the file");
  return std::nullopt;
}

bool Verifier::CheckList(const Field& field, uint64_t at, std::optional<uint64_t> kinds_at) {
  Type element = field.type;
  element.list = false;
  const uint64_t stride = BytesInPlace(element);
  const auto count = ElementsOf(at, stride);
  if (!count || !Count(*count)) return false;
  const bool is_union = IsUnion(element);
  if (is_union) {
    const auto kinds = kinds_at ? ElementsOf(*kinds_at, 1) : std::nullopt;
    if (!kinds || *kinds != *count) return Fail("a list of unions has not a number for each");
  }
  const bool is_struct = element.definition != nullptr && element.definition->in_place();
  if (IsNumber(element) || is_struct) return true;
  Field one = field;
  one.type.list = false;
  for (uint32_t i = 0; i < *count; ++i) {
    path_.push_back({.element = i});
    const uint64_t place = TargetAt(bytes_, at) + 4 + i * stride;
    const auto kind =
        is_union ? std::optional<uint64_t>(TargetAt(bytes_, *kinds_at) + 4 + i) : std::nullopt;
    if (!CheckValue(one, place, kind)) return false;
    path_.pop_back();
  }
  return true;
}

Status Verifier::Run() {
  const uint64_t size = LoadAt<uint32_t>(bytes_, 0);
  if (bytes_.size() < 12 || size != bytes_.size() - 4) {
    return Status(Code::kInvalidArgument,
                  fmt::format("the file has {} bytes after its size, and says that it has {}: it "
                              "is truncated, or not a file of tt-mlir",
                              bytes_.size() < 4 ? 0 : bytes_.size() - 4, size));
  }
  if (CheckTable(TargetAt(bytes_, 4), profile_.root())) return Status();
  return Status(Code::kInvalidArgument, fmt::format("{}: {}", Path(), problem_));
}

}  // namespace

Status Verify(Bytes bytes, const Profile& profile) { return Verifier(bytes, profile).Run(); }

}  // namespace ttfd::ttmlir
