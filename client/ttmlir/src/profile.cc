// Reading profiles.
#include "client/ttmlir/src/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::Result;
using client::Status;

constexpr std::array<std::string_view, 12> kBasicNames = {
    "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "text"};
constexpr std::array<uint32_t, 12> kBasicBytes = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 4};
constexpr uint32_t kOffsetBytes = 4;
constexpr int kMaxExtended = 8;  // profiles that extend one another

std::optional<Basic> BasicNamed(std::string_view name) {
  const auto found = std::find(kBasicNames.begin(), kBasicNames.end(), name);
  if (found == kBasicNames.end()) return std::nullopt;
  return static_cast<Basic>(found - kBasicNames.begin());
}

template <typename Number>
std::optional<Number> NumberIn(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Splits into what is before and after the first `mark`; the second is empty without one.
std::pair<std::string_view, std::string_view> SplitAt(std::string_view text, char mark) {
  const size_t at = std::min(text.find(mark), text.size());
  return {text.substr(0, at), text.substr(std::min(at + 1, text.size()))};
}

std::vector<std::string> WordsOf(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

uint32_t BytesOf(Basic basic) { return kBasicBytes[static_cast<size_t>(basic)]; }

bool IsUnion(const Type& type) {
  return type.definition != nullptr && type.definition->kind == Definition::Kind::kUnion;
}

bool IsEnum(const Type& type) {
  return type.definition != nullptr && (type.definition->kind == Definition::Kind::kEnum ||
                                        type.definition->kind == Definition::Kind::kFlags);
}

bool IsNumber(const Type& type) {
  const bool is_basic = type.definition == nullptr && type.basic != Basic::kText;
  return !type.list && (is_basic || IsEnum(type));
}

uint32_t BytesInPlace(const Type& type) {
  if (type.definition == nullptr) return BytesOf(type.basic);
  switch (type.definition->kind) {
    case Definition::Kind::kEnum:
    case Definition::Kind::kFlags:
      return BytesOf(type.definition->basic);
    case Definition::Kind::kStruct:
      return type.definition->bytes;
    case Definition::Kind::kTable:
    case Definition::Kind::kUnion:
      break;
  }
  return kOffsetBytes;
}

const Field* Definition::FieldNamed(std::string_view wanted) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.name == wanted; });
  return found == fields.end() ? nullptr : &*found;
}

const Definition::Member* Definition::MemberOf(int64_t number) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& member) { return member.number == number; });
  return found == members.end() ? nullptr : &*found;
}

// Definitions refer to one another in any order: names are kept until all lines are read.
class ProfileParser {
 public:
  explicit ProfileParser(std::string folder) : folder_(std::move(folder)) {}

  Status ReadFile(const std::string& name, int extended);
  Status ReadText(std::string_view text, const std::string& name, int extended);
  Result<std::shared_ptr<const Profile>> Finish();

 private:
  bool ReadLine(const std::vector<std::string>& words);
  bool ReadMembers(const std::vector<std::string>& words, size_t first, Definition* definition);
  bool ReadFields(const std::vector<std::string>& words, size_t first, Definition* definition);
  bool ReadField(std::string_view word, Field* field, std::string* type);
  // The definition called so; null and a problem if there is none.
  const Definition* Find(const std::string& name);
  bool ResolveField(const Definition& owner, Field* field, const std::string& type);
  bool Resolve(Definition* definition);

  std::string folder_;
  std::shared_ptr<Profile> profile_ = std::make_shared<Profile>();
  // Per definition, the names of the types of its fields, or of the tables of its members.
  std::map<std::string, std::vector<std::string>, std::less<>> type_names_;
  std::string root_;
  std::string problem_;
};

Status ProfileParser::ReadFile(const std::string& name, int extended) {
  const std::string path = folder_ + "/" + name + ".profile";
  std::ifstream file(path);
  if (!file) return Status(Code::kNotFound, fmt::format("{} cannot be read", path));
  std::ostringstream text;
  text << file.rdbuf();
  return ReadText(text.str(), path, extended);
}

Status ProfileParser::ReadText(std::string_view text, const std::string& name, int extended) {
  std::istringstream lines{std::string(text)};
  int number = 0;
  int records = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<std::string> words = WordsOf(line);
    if (words.empty() || words[0].starts_with("#")) continue;
    if (words.size() == 2 && words[0] == "extends") {
      if (extended == kMaxExtended || words[1].find('/') != std::string::npos || records > 0) {
        return Status(Code::kInvalidArgument,
                      fmt::format("{}:{}: extends is the first record and names a profile of the "
                                  "same folder; at most {} extend one another",
                                  name, number, kMaxExtended));
      }
      if (Status status = ReadFile(words[1], extended + 1); !status.ok()) return status;
    } else if (words.size() < 2 || !ReadLine(words)) {
      return Status(Code::kInvalidArgument, fmt::format("{}:{}: '{}' is not a record of a profile",
                                                        name, number, line.substr(0, 60)));
    }
    ++records;
  }
  return Status();
}

bool ProfileParser::ReadLine(const std::vector<std::string>& words) {
  using Sort = Definition::Kind;
  static const std::map<std::string, Sort, std::less<>> kKinds = {{"enum", Sort::kEnum},
                                                                  {"flags", Sort::kFlags},
                                                                  {"struct", Sort::kStruct},
                                                                  {"table", Sort::kTable},
                                                                  {"union", Sort::kUnion}};
  if (words[0] == "file") return profile_->identifier_ = words[1], true;
  if (words[0] == "hash") return profile_->hash_ = words[1], true;
  if (words[0] == "root") return root_ = words[1], true;
  if (words[0] == "without") {
    for (size_t i = 1; i < words.size(); ++i) profile_->definitions_.erase(words[i]);
    return true;
  }
  const auto kind = kKinds.find(words[0]);
  if (kind == kKinds.end()) return false;
  Definition definition;
  definition.kind = kind->second;
  definition.name = words[1];
  type_names_[words[1]].clear();
  size_t first = 2;
  if (definition.kind == Sort::kStruct) {
    const auto bytes = words.size() > 2 ? NumberIn<uint32_t>(words[2]) : std::nullopt;
    if (!bytes) return false;
    definition.bytes = *bytes;
    first = 3;
  } else if (definition.kind == Sort::kEnum || definition.kind == Sort::kFlags) {
    const auto basic = words.size() > 2 ? BasicNamed(words[2]) : std::nullopt;
    if (!basic || *basic >= Basic::kF32) return false;
    definition.basic = *basic;
    first = 3;
  }
  const bool has_fields = definition.kind == Sort::kStruct || definition.kind == Sort::kTable;
  if (!(has_fields ? ReadFields(words, first, &definition)
                   : ReadMembers(words, first, &definition))) {
    return false;
  }
  profile_->definitions_[words[1]] = std::move(definition);
  return true;
}

bool ProfileParser::ReadMembers(const std::vector<std::string>& words, size_t first,
                                Definition* definition) {
  for (size_t i = first; i < words.size(); ++i) {
    const auto [name, rest] = SplitAt(words[i], '=');
    const auto [number_text, table] = SplitAt(rest, ':');
    const auto number = NumberIn<int64_t>(number_text);
    const bool is_union = definition->kind == Definition::Kind::kUnion;
    if (name.empty() || !number || table.empty() == is_union) return false;
    definition->members.push_back({.name = std::string(name), .number = *number, .table = nullptr});
    type_names_[definition->name].emplace_back(table);
  }
  return true;
}

bool ProfileParser::ReadFields(const std::vector<std::string>& words, size_t first,
                               Definition* definition) {
  for (size_t i = first; i < words.size(); ++i) {
    Field field;
    std::string type;
    if (!ReadField(words[i], &field, &type)) return false;
    definition->fields.push_back(std::move(field));
    type_names_[definition->name].push_back(type);
  }
  return true;
}

bool ProfileParser::ReadField(std::string_view word, Field* field, std::string* type) {
  const auto [name, rest] = SplitAt(word, '@');
  const auto [place_text, typed] = SplitAt(rest, ':');
  auto [name_of_type, standard] = SplitAt(typed, '=');
  const auto place = NumberIn<uint16_t>(place_text);
  if (name.empty() || !place || name_of_type.empty()) return false;
  field->name = name;
  field->place = *place;
  if (!standard.empty()) {
    const auto number = NumberIn<double>(standard);
    constexpr double kMost = 9.2e18;  // an integer of 64 bits
    if (!number || !(*number >= -kMost && *number <= kMost)) return false;
    field->standard = *number;
  }
  if (name_of_type.ends_with('?')) {
    field->optional = true;
    name_of_type.remove_suffix(1);
  }
  if (name_of_type.starts_with('[') && name_of_type.ends_with(']')) {
    field->type.list = true;
    name_of_type = name_of_type.substr(1, name_of_type.size() - 2);
  }
  *type = name_of_type;
  return true;
}

const Definition* ProfileParser::Find(const std::string& name) {
  const auto found = profile_->definitions_.find(name);
  if (found == profile_->definitions_.end()) {
    problem_ = fmt::format("it uses {}, which it does not define", name);
    return nullptr;
  }
  return &found->second;
}

bool ProfileParser::ResolveField(const Definition& owner, Field* field, const std::string& type) {
  if (const auto basic = BasicNamed(type)) {
    field->type.basic = *basic;
  } else if (const Definition* definition = Find(type)) {
    field->type.definition = definition;
    field->type.basic = definition->basic;
  } else {
    return false;
  }
  const Definition* const definition = field->type.definition;
  const bool is_union = IsUnion(field->type);
  bool fits = !is_union || field->place > 0;
  if (owner.in_place()) {
    // A struct within a struct has fewer bytes, so none can contain itself.
    const bool flat = definition == nullptr ? field->type.basic != Basic::kText
                                            : definition->kind != Definition::Kind::kTable &&
                                                  !is_union && definition->bytes < owner.bytes;
    fits = flat && !field->type.list && field->place + BytesInPlace(field->type) <= owner.bytes;
  }
  if (!fits) problem_ = fmt::format("{}.{} cannot lie there", owner.name, field->name);
  return fits;
}

bool ProfileParser::Resolve(Definition* definition) {
  const std::vector<std::string>& names = type_names_[definition->name];
  for (size_t i = 0; i < definition->fields.size(); ++i) {
    if (!ResolveField(*definition, &definition->fields[i], names[i])) return false;
  }
  for (size_t i = 0; i < definition->members.size(); ++i) {
    if (definition->kind != Definition::Kind::kUnion) continue;
    definition->members[i].table = Find(names[i]);
    if (definition->members[i].table == nullptr) return false;
    if (definition->members[i].table->kind != Definition::Kind::kTable) {
      problem_ = fmt::format("{}.{} is not a table", definition->name, definition->members[i].name);
      return false;
    }
  }
  return true;
}

Result<std::shared_ptr<const Profile>> ProfileParser::Finish() {
  const auto bad = [this](const std::string& problem) {
    return Status(Code::kInvalidArgument,
                  fmt::format("the profile of {} is not complete: {}", profile_->hash_, problem));
  };
  for (auto& [name, definition] : profile_->definitions_) {
    if (!Resolve(&definition)) return bad(problem_);
  }
  profile_->root_ = Find(root_);
  if (profile_->root_ == nullptr || profile_->root_->kind != Definition::Kind::kTable) {
    return bad("its root is not a table");
  }
  return std::shared_ptr<const Profile>(profile_);
}

Result<std::shared_ptr<const Profile>> Profile::Read(const std::string& folder,
                                                     const std::string& name) {
  ProfileParser parser(folder);
  if (Status status = parser.ReadFile(name, 0); !status.ok()) return status;
  return parser.Finish();
}

Result<std::shared_ptr<const Profile>> Profile::Parse(std::string_view text) {
  ProfileParser parser("");
  if (Status status = parser.ReadText(text, "profile", kMaxExtended); !status.ok()) return status;
  return parser.Finish();
}

}  // namespace ttfd::ttmlir
