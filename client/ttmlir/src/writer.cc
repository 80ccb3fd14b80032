// Writing files by the names of a profile.
#include "client/ttmlir/src/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::Result;
using client::Status;
using Value = nlohmann::json;

constexpr size_t kHeaderEnd = 12;  // size, offset of the root, identifier
constexpr size_t kMostAlignment =
    8;  // of a number, and so of tables, structs and the elements of lists

const Definition::Member* MemberNamed(const Definition& definition, std::string_view name) {
  const auto found = std::find_if(definition.members.begin(), definition.members.end(),
                                  [&](const auto& one) { return one.name == name; });
  return found == definition.members.end() ? nullptr : &*found;
}

// Whether an integer of the type can be `value`.
bool Holds(Basic basic, const Value& value) {
  if (value.is_boolean()) return true;
  if (!value.is_number_integer()) return false;
  if (basic == Basic::kBool) return value == 0 || value == 1;
  const uint32_t bits = 8 * BytesOf(basic);
  const bool is_signed =
      basic == Basic::kI8 || basic == Basic::kI16 || basic == Basic::kI32 || basic == Basic::kI64;
  const uint64_t most = ~uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  if (value.is_number_unsigned() || value.get<int64_t>() >= 0) {
    return value.get<uint64_t>() <= most;
  }
  return is_signed && value.get<int64_t>() >= -static_cast<int64_t>(most) - 1;
}

// Parents come before their children, so all offsets lead forward; a table lies behind its vtable.
class FileWriter {
 public:
  Result<std::string> Write(const Profile& profile, const Value& root) {
    bytes_ = std::string(kHeaderEnd - profile.identifier().size(), '\0') + profile.identifier();
    PutOffset(4, WriteTable(profile.root(), root));
    PutAt<uint32_t>(0, static_cast<uint32_t>(bytes_.size() - 4));
    if (!problem_.empty()) return Status(Code::kInvalidArgument, problem_);
    return std::move(bytes_);
  }

 private:
  // A field that is present: where its value, and of a union its number, lies.
  struct Placed {
    const Field* field;
    size_t at;
    size_t kind_at;
  };

  // The first problem counts.
  void Fail(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }
  // Fails unless `fits`.
  bool Require(bool fits, const Value& value) {
    if (!fits) Fail(fmt::format("{} does not take {}", field_, value.dump()));
    return fits;
  }
  template <typename Number>
  void PutAt(size_t at, Number number) {
    std::memcpy(bytes_.data() + at, &number, sizeof(number));
  }
  void PutOffset(size_t at, size_t target) { PutAt(at, static_cast<uint32_t>(target - at)); }

  // Adds `size` bytes at a multiple of `alignment`, counted from the size of the file on.
  size_t Add(size_t size, size_t alignment) {
    while (bytes_.size() % alignment != 0) bytes_ += '\0';
    bytes_.resize(bytes_.size() + size);
    return bytes_.size() - size;
  }

  void PutNumber(size_t at, const Type& type, const Value& value);
  void PutStruct(size_t at, const Definition& definition, const Value& value);
  // The value of a field in its place; a table, text or list is written and its offset put there.
  void PutValue(size_t at, const Type& type, const Value& value, const Definition::Member* member);
  void CheckNames(const Definition& definition, const Value& value);
  size_t WriteTable(const Definition& definition, const Value& value);
  void WriteField(const Placed& placed, const Value& table);
  size_t WriteText(const Value& text);
  // `members`: of a union, one for each value.
  size_t WriteList(const Type& type, const Value& values,
                   const std::vector<const Definition::Member*>& members);
  const Definition::Member* MemberOf(const Definition& one, const Value& name);

  std::string bytes_;
  std::string field_;  // that is being written, for a problem: "ChipDesc.l1_size"
  std::string problem_;
};

void FileWriter::PutNumber(size_t at, const Type& type, const Value& value) {
  const Basic basic = type.basic;
  if (basic == Basic::kF32 || basic == Basic::kF64) {
    if (!Require(value.is_number(), value)) return;
    return basic == Basic::kF32 ? PutAt(at, value.get<float>()) : PutAt(at, value.get<double>());
  }
  int64_t number = 0;
  if (value.is_string() && type.definition != nullptr) {
    const auto names = value.get<std::string>();
    for (size_t begin = 0; begin < names.size();) {
      const size_t end = std::min(names.find(' ', begin), names.size());
      const auto* const member = MemberNamed(*type.definition, names.substr(begin, end - begin));
      if (!Require(member != nullptr, value)) return;
      number |= member->number;
      begin = end + 1;
    }
  } else if (!Require(Holds(basic, value), value)) {
    return;
  } else if (value.is_boolean()) {
    number = value.get<bool>() ? 1 : 0;
  } else {
    number = value.is_number_unsigned() ? static_cast<int64_t>(value.get<uint64_t>())
                                        : value.get<int64_t>();
  }
  std::memcpy(bytes_.data() + at, &number, BytesOf(basic));
}

void FileWriter::PutStruct(size_t at, const Definition& definition, const Value& value) {
  CheckNames(definition, value);
  for (const Field& field : definition.fields) {
    if (!value.contains(field.name)) continue;
    field_ = definition.name + "." + field.name;
    PutValue(at + field.place, field.type, value[field.name], nullptr);
  }
}

void FileWriter::PutValue(size_t at, const Type& type, const Value& value,
                          const Definition::Member* member) {
  if (IsUnion(type)) {
    if (member != nullptr) PutOffset(at, WriteTable(*member->table, value));
    return;
  }
  if (type.definition == nullptr && type.basic == Basic::kText) {
    return PutOffset(at, WriteText(value));
  }
  if (type.definition == nullptr || IsEnum(type)) return PutNumber(at, type, value);
  if (type.definition->in_place()) return PutStruct(at, *type.definition, value);
  PutOffset(at, WriteTable(*type.definition, value));
}

size_t FileWriter::WriteText(const Value& text) {
  const size_t at = Add(4, 4);
  if (!Require(text.is_string(), text)) return at;
  const auto& bytes = text.get_ref<const std::string&>();
  PutAt(at, static_cast<uint32_t>(bytes.size()));
  bytes_ += bytes;
  bytes_ += '\0';
  return at;
}

const Definition::Member* FileWriter::MemberOf(const Definition& one, const Value& name) {
  const Definition::Member* const member =
      name.is_string() ? MemberNamed(one, name.get_ref<const std::string&>()) : nullptr;
  Require(member != nullptr, name);
  return member;
}

size_t FileWriter::WriteList(const Type& type, const Value& values,
                             const std::vector<const Definition::Member*>& members) {
  Type element = type;
  element.list = false;
  const size_t stride = BytesInPlace(element);
  Add(4, kMostAlignment);
  const size_t at = Add(4, 4);
  if (!Require(values.is_array(), values)) return at;
  PutAt(at, static_cast<uint32_t>(values.size()));
  const size_t first = Add(stride * values.size(), 1);
  for (size_t i = 0; i < values.size(); ++i) {
    PutValue(first + i * stride, element, values[i], i < members.size() ? members[i] : nullptr);
  }
  return at;
}

void FileWriter::CheckNames(const Definition& definition, const Value& value) {
  if (!Require(value.is_object(), value)) return;
  for (const auto& [name, ignored] : value.items()) {
    const std::string base = name.ends_with("_type") ? name.substr(0, name.size() - 5) : name;
    if (definition.FieldNamed(name) == nullptr && definition.FieldNamed(base) == nullptr) {
      Fail(fmt::format("{} has no field {}", definition.name, name));
    }
  }
}

size_t FileWriter::WriteTable(const Definition& definition, const Value& value) {
  CheckNames(definition, value);
  uint32_t slots = 0;
  for (const Field& field : definition.fields) slots = std::max<uint32_t>(slots, field.place + 1);
  const size_t vtable = Add(4 + 2 * slots, 2);
  const size_t table = Add(4, kMostAlignment);
  PutAt(table, static_cast<int32_t>(table - vtable));
  const auto place = [&](uint32_t slot, size_t size, size_t alignment) {
    const size_t at = Add(size, alignment);
    PutAt(vtable + 4 + 2 * slot, static_cast<uint16_t>(at - table));
    return at;
  };
  std::vector<Placed> placed;
  for (const Field& field : definition.fields) {
    if (!value.contains(field.name) || value[field.name].is_null()) continue;
    const Type& type = field.type;
    const size_t kind_size = type.list ? 4 : 1;
    const size_t size = type.list ? 4 : BytesInPlace(type);
    const bool structure = !type.list && type.definition != nullptr && type.definition->in_place();
    Placed one{.field = &field, .at = 0, .kind_at = 0};
    if (IsUnion(type)) one.kind_at = place(field.place - 1U, kind_size, kind_size);
    one.at = place(field.place, size, structure ? kMostAlignment : size);
    placed.push_back(one);
  }
  PutAt(vtable, static_cast<uint16_t>(4 + 2 * slots));
  PutAt(vtable + 2, static_cast<uint16_t>(bytes_.size() - table));
  for (const Placed& one : placed) {
    field_ = definition.name + "." + one.field->name;
    WriteField(one, value);
  }
  return table;
}

void FileWriter::WriteField(const Placed& placed, const Value& table) {
  const Type& type = placed.field->type;
  const Value& value = table[placed.field->name];
  if (!IsUnion(type)) {
    if (!type.list) return PutValue(placed.at, type, value, nullptr);
    return PutOffset(placed.at, WriteList(type, value, {}));
  }
  const Value kind = table.value(placed.field->name + "_type", Value());
  if (!type.list) {
    const Definition::Member* const member = MemberOf(*type.definition, kind);
    if (member == nullptr) return;
    PutAt(placed.kind_at, static_cast<uint8_t>(member->number));
    return PutValue(placed.at, type, value, member);
  }
  if (!Require(value.is_array() && kind.is_array() && kind.size() == value.size(), kind)) return;
  const size_t kinds = Add(4 + value.size(), 4);
  PutAt(kinds, static_cast<uint32_t>(value.size()));
  std::vector<const Definition::Member*> members;
  for (size_t i = 0; i < value.size(); ++i) {
    members.push_back(MemberOf(*type.definition, kind[i]));
    if (members.back() == nullptr) return;
    PutAt(kinds + 4 + i, static_cast<uint8_t>(members.back()->number));
  }
  PutOffset(placed.kind_at, kinds);
  PutOffset(placed.at, WriteList(type, value, members));
}

}  // namespace

Result<std::string> WriteFile(const Profile& profile, const nlohmann::json& root) {
  return FileWriter().Write(profile, root);
}

}  // namespace ttfd::ttmlir
