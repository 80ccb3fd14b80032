// Files of tt-mlir's kinds for tests.
#include "tests/support/compiled_file.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "client/ttmlir/src/writer.h"

namespace ttfd::ttmlir {
namespace {

using Json = nlohmann::json;

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
  client::Result<std::string> file = WriteFile(profile, root);
  if (!file.ok()) {
    std::fprintf(stderr, "a compiled file cannot be written: %s\n",
                 file.status().ToString().c_str());
    std::abort();
  }
  return *std::move(file);
}

Json RandomCompiledRoot(const Profile& profile, int depth, uint32_t turn, Random* random) {
  Json root = RandomTree(turn, random).Table(profile.root(), depth);
  const bool has_schema_hash = profile.root().FieldNamed("schema_hash") != nullptr;
  root["ttmlir_git_hash"] = has_schema_hash ? std::string(40, 'a') : profile.hash();
  if (has_schema_hash) root["schema_hash"] = profile.hash();
  return root;
}

}  // namespace ttfd::ttmlir
