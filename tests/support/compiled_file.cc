// Files of tt-mlir's kinds, written by a profile.
#include "tests/support/compiled_file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ttfd::ttmlir {
namespace {

using Json = nlohmann::json;
using Kind = Definition::Kind;

void Require(bool fits, const std::string& what) {
  if (fits) return;
  std::fprintf(stderr, "a compiled file cannot be written: %s\n", what.c_str());
  std::abort();
}

int64_t NumberOf(const Definition& definition, const std::string& names) {
  int64_t number = 0;
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(' ', at), names.size());
    const std::string name = names.substr(at, end - at);
    const auto member = std::find_if(definition.members.begin(), definition.members.end(),
                                     [&](const auto& one) { return one.name == name; });
    Require(member != definition.members.end(), definition.name + " has no " + name);
    number |= member->number;
    at = end + 1;
  }
  return number;
}

// Parents come before their children, so all offsets lead forward; a table lies behind its vtable.
class FileWriter {
 public:
  std::string Write(const Profile& profile, const Json& root) {
    bytes_ = std::string(8, '\0') + profile.identifier();
    PutOffset(4, WriteTable(profile.root(), root));
    PutAt<uint32_t>(0, static_cast<uint32_t>(bytes_.size() - 4));
    return bytes_;
  }

 private:
  // A field that is present: where its value, and of a union its number, lies.
  struct Placed {
    const Field* field;
    size_t at;
    size_t kind_at;
  };

  template <typename Number>
  void PutAt(size_t at, Number number) {
    std::memcpy(bytes_.data() + at, &number, sizeof(number));
  }
  void PutOffset(size_t at, size_t target) { PutAt(at, static_cast<uint32_t>(target - at)); }

  // Adds `size` bytes at a multiple of `alignment`, counted from behind the size of the file.
  size_t Add(size_t size, size_t alignment) {
    while ((bytes_.size() - 4) % alignment != 0) bytes_ += '\0';
    bytes_.resize(bytes_.size() + size);
    return bytes_.size() - size;
  }

  void PutNumber(size_t at, const Type& type, const Json& value);
  void PutStruct(size_t at, const Definition& definition, const Json& value);
  // The value of a field in its place; a table, text or list is written and its offset put there.
  void PutValue(size_t at, const Type& type, const Json& value, const Definition::Member* member);
  size_t WriteTable(const Definition& definition, const Json& value);
  void WriteField(const Placed& placed, const Json& table);
  size_t WriteText(const std::string& text);
  size_t WriteList(const Type& type, const Json& values, const Json& kinds);
  const Definition::Member* MemberNamed(const Definition& one, const Json& name);

  std::string bytes_;
};

void FileWriter::PutNumber(size_t at, const Type& type, const Json& value) {
  const Basic basic = type.basic;
  if (basic == Basic::kF32) return PutAt(at, value.get<float>());
  if (basic == Basic::kF64) return PutAt(at, value.get<double>());
  int64_t number = 0;
  if (value.is_string() && type.definition != nullptr) {
    number = NumberOf(*type.definition, value.get<std::string>());
  } else if (value.is_boolean()) {
    number = value.get<bool>() ? 1 : 0;
  } else {
    number = value.is_number_unsigned() ? static_cast<int64_t>(value.get<uint64_t>())
                                        : value.get<int64_t>();
  }
  std::memcpy(bytes_.data() + at, &number, BytesOf(basic));
}

void FileWriter::PutStruct(size_t at, const Definition& definition, const Json& value) {
  for (const Field& field : definition.fields) {
    if (!value.contains(field.name)) continue;
    PutValue(at + field.place, field.type, value[field.name], nullptr);
  }
}

void FileWriter::PutValue(size_t at, const Type& type, const Json& value,
                          const Definition::Member* member) {
  if (member != nullptr) return PutOffset(at, WriteTable(*member->table, value));
  if (type.definition == nullptr && type.basic == Basic::kText) {
    return PutOffset(at, WriteText(value.get<std::string>()));
  }
  if (type.definition == nullptr || IsEnum(type)) return PutNumber(at, type, value);
  if (type.definition->in_place()) return PutStruct(at, *type.definition, value);
  PutOffset(at, WriteTable(*type.definition, value));
}

size_t FileWriter::WriteText(const std::string& text) {
  const size_t at = Add(4, 4);
  PutAt(at, static_cast<uint32_t>(text.size()));
  bytes_ += text;
  bytes_ += '\0';
  return at;
}

const Definition::Member* FileWriter::MemberNamed(const Definition& one, const Json& name) {
  const auto member = std::find_if(one.members.begin(), one.members.end(),
                                   [&](const auto& each) { return each.name == name; });
  Require(member != one.members.end(), one.name + " has no " + name.dump());
  return &*member;
}

size_t FileWriter::WriteList(const Type& type, const Json& values, const Json& kinds) {
  Type element = type;
  element.list = false;
  const size_t stride = BytesInPlace(element);
  Add(4, 8);
  const size_t at = Add(4, 4);
  PutAt(at, static_cast<uint32_t>(values.size()));
  const size_t first = Add(stride * values.size(), 1);
  for (size_t i = 0; i < values.size(); ++i) {
    PutValue(first + i * stride, element, values[i],
             IsUnion(type) ? MemberNamed(*type.definition, kinds[i]) : nullptr);
  }
  return at;
}

size_t FileWriter::WriteTable(const Definition& definition, const Json& value) {
  for (const auto& [name, ignored] : value.items()) {
    const std::string base = name.ends_with("_type") ? name.substr(0, name.size() - 5) : name;
    Require(definition.FieldNamed(name) != nullptr || definition.FieldNamed(base) != nullptr,
            definition.name + " has no field " + name);
  }
  uint32_t slots = 0;
  for (const Field& field : definition.fields) slots = std::max<uint32_t>(slots, field.place + 1);
  const size_t vtable = Add(4 + 2 * slots, 2);
  const size_t table = Add(4, 8);
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
    one.at = place(field.place, size, structure ? 8 : size);
    placed.push_back(one);
  }
  PutAt(vtable, static_cast<uint16_t>(4 + 2 * slots));
  PutAt(vtable + 2, static_cast<uint16_t>(bytes_.size() - table));
  for (const Placed& one : placed) WriteField(one, value);
  return table;
}

void FileWriter::WriteField(const Placed& placed, const Json& table) {
  const Type& type = placed.field->type;
  const Json& value = table[placed.field->name];
  if (!IsUnion(type)) {
    if (!type.list) return PutValue(placed.at, type, value, nullptr);
    return PutOffset(placed.at, WriteList(type, value, Json()));
  }
  const Json& kind = table[placed.field->name + "_type"];
  if (!type.list) {
    const Definition::Member* const member = MemberNamed(*type.definition, kind);
    PutAt(placed.kind_at, static_cast<uint8_t>(member->number));
    return PutValue(placed.at, type, value, member);
  }
  const size_t kinds = Add(4 + value.size(), 4);
  PutAt(kinds, static_cast<uint32_t>(value.size()));
  for (size_t i = 0; i < value.size(); ++i) {
    PutAt(kinds + 4 + i, static_cast<uint8_t>(MemberNamed(*type.definition, kind[i])->number));
  }
  PutOffset(placed.kind_at, kinds);
  PutOffset(placed.at, WriteList(type, value, kind));
}

class RandomTree {
 public:
  RandomTree(uint32_t turn, Random* random) : turn_(turn), random_(*random) {}

  Json Table(const Definition& definition, int depth) {
    Json table = Json::object();
    for (const Field& field : definition.fields) {
      if (random_() % 4 == 0 || (depth == 0 && IsDeep(field.type))) continue;
      Json kind;
      Type element = field.type;
      element.list = false;
      if (!field.type.list) {
        table[field.name] = Value(element, depth, &kind);
        if (IsUnion(element)) table[field.name + "_type"] = kind;
        continue;
      }
      Json values = Json::array();
      Json kinds = Json::array();
      for (uint32_t i = random_() % 4; i > 0; --i) {
        values.push_back(Value(element, depth, &kind));
        kinds.push_back(kind);
      }
      table[field.name] = values;
      if (IsUnion(field.type)) table[field.name + "_type"] = kinds;
    }
    return table;
  }

 private:
  static bool IsDeep(const Type& type) {
    return type.definition != nullptr && !IsEnum(type) && !type.definition->in_place();
  }

  Json Value(const Type& type, int depth, Json* kind) {
    if (IsUnion(type)) {
      const auto& members = type.definition->members;
      const Definition::Member& member = members[turn_++ % members.size()];
      *kind = member.name;
      return Table(*member.table, std::max(depth - 1, 0));
    }
    if (IsEnum(type)) {
      const auto& members = type.definition->members;
      return members.empty() ? Json(0) : Json(members[random_() % members.size()].name);
    }
    if (type.definition == nullptr) return Basics(type.basic);
    return Table(*type.definition, std::max(depth - 1, 0));
  }

  Json Basics(Basic basic) {
    const uint32_t number = random_();
    if (basic == Basic::kText) return "text \"" + std::to_string(number) + "\" \n\u00e4";
    if (basic == Basic::kBool) return number % 2 == 0;
    if (basic == Basic::kF32 || basic == Basic::kF64) {
      return static_cast<double>(static_cast<int32_t>(number)) / 65536;
    }
    const bool is_signed =
        basic == Basic::kI8 || basic == Basic::kI16 || basic == Basic::kI32 || basic == Basic::kI64;
    const uint32_t bits = 8 * BytesOf(basic) - 1;
    const uint64_t magnitude = (uint64_t{number} << 32 | random_()) >> (64 - bits);
    if (is_signed && number % 2 == 0) return -static_cast<int64_t>(magnitude);
    return magnitude;
  }

  uint32_t turn_;
  Random& random_;
};

}  // namespace

std::string WriteCompiledFile(const Profile& profile, const Json& root) {
  return FileWriter().Write(profile, root);
}

Json RandomCompiledRoot(const Profile& profile, int depth, uint32_t turn, Random* random) {
  Json root = RandomTree(turn, random).Table(profile.root(), depth);
  const bool has_schema_hash = profile.root().FieldNamed("schema_hash") != nullptr;
  root["ttmlir_git_hash"] = has_schema_hash ? std::string(40, 'a') : profile.hash();
  if (has_schema_hash) root["schema_hash"] = profile.hash();
  return root;
}

}  // namespace ttfd::ttmlir
