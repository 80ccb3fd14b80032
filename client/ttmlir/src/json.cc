// JSON of a record.
#include "client/ttmlir/src/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace ttfd::ttmlir {
namespace {

bool IsReal(const Type& type) {
  return type.definition == nullptr && (type.basic == Basic::kF32 || type.basic == Basic::kF64);
}

// JSON has no numbers that are not finite: they are printed as words in quotes.
std::string RealText(double value, Basic basic) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (basic == Basic::kF32) return fmt::format("{}", static_cast<float>(value));
  return fmt::format("{}", value);
}

std::string FlagNames(const Definition& flags, uint64_t value) {
  std::string names;
  uint64_t named = 0;
  for (const Definition::Member& member : flags.members) {
    const auto bits = static_cast<uint64_t>(member.number);
    if (bits == 0 || (value & bits) != bits) continue;
    names += (names.empty() ? "" : " ") + member.name;
    named |= bits;
  }
  return named == value ? names : "";
}

// The name of an enum's number; empty: it has none.
std::string NameOf(const Definition& definition, int64_t value) {
  if (definition.kind == Definition::Kind::kFlags) {
    return FlagNames(definition, static_cast<uint64_t>(value));
  }
  const Definition::Member* const member = definition.MemberOf(value);
  return member == nullptr ? "" : member->name;
}

}  // namespace

std::string NumberText(const Type& type, int64_t integer, double real) {
  if (type.definition != nullptr) {
    std::string name = NameOf(*type.definition, integer);
    if (!name.empty()) return name;
  }
  if (IsReal(type)) return RealText(real, type.basic);
  if (type.basic == Basic::kBool) return integer != 0 ? "true" : "false";
  if (type.basic == Basic::kU64) return fmt::format("{}", static_cast<uint64_t>(integer));
  return fmt::format("{}", integer);
}

namespace {

class Writer {
 public:
  explicit Writer(const JsonSink& sink) : sink_(sink) {}

  void Write(const Record& record);
  void Write(const List& list);

 private:
  void WriteNumber(const Type& type, int64_t integer, double real);
  void WriteField(const Record& record, const Field& field, bool* first);
  void Begin(std::string_view name, bool* first);

  const JsonSink& sink_;
};

void Writer::WriteNumber(const Type& type, int64_t integer, double real) {
  const std::string text = NumberText(type, integer, real);
  const bool named = type.definition != nullptr && !NameOf(*type.definition, integer).empty();
  const bool word = named || (IsReal(type) && !std::isfinite(real));
  sink_(word ? JsonText(text) : text);
}

void Writer::Begin(std::string_view name, bool* first) {
  if (!*first) sink_(", ");
  *first = false;
  sink_(JsonText(name));
  sink_(": ");
}

void Writer::WriteField(const Record& record, const Field& field, bool* first) {
  const Type& type = field.type;
  const auto place = record.PlaceOf(field);
  const bool is_union = IsUnion(type);
  if (IsNumber(type)) {
    Begin(field.name, first);
    if (!place && field.optional) return sink_("null");
    WriteNumber(type, record.Integer(field.name), record.Real(field.name));
    return;
  }
  if (!place) {
    if (!is_union || type.list) return;
    Begin(field.name + "_type", first);
    sink_("\"NONE\"");
    return;
  }
  if (type.list) {
    const List list = record.Items(field.name);
    if (is_union) {
      Begin(field.name + "_type", first);
      sink_("[");
      for (uint32_t i = 0; i < list.size(); ++i) {
        const Definition::Member* const member = list.MemberOf(i);
        if (i != 0) sink_(", ");
        sink_(JsonText(member == nullptr ? "NONE" : member->name));
      }
      sink_("]");
    }
    Begin(field.name, first);
    Write(list);
    return;
  }
  if (is_union) {
    Begin(field.name + "_type", first);
    sink_(JsonText(record.MemberName(field.name)));
  }
  Begin(field.name, first);
  if (type.definition == nullptr) {
    sink_(JsonText(record.Text(field.name)));
  } else {
    Write(record.Child(field.name));
  }
}

void Writer::Write(const Record& record) {
  sink_("{");
  bool first = true;
  if (record) {
    for (const Field& field : record.definition().fields) WriteField(record, field, &first);
  }
  sink_("}");
}

void Writer::Write(const List& list) {
  sink_("[");
  const Type& type = list.type();
  const bool is_record = type.definition != nullptr && !IsEnum(type);
  for (uint32_t i = 0; i < list.size(); ++i) {
    if (i != 0) sink_(", ");
    if (is_record) {
      Write(list.Child(i));
    } else if (type.definition == nullptr && type.basic == Basic::kText) {
      sink_(JsonText(list.Text(i)));
    } else {
      WriteNumber(type, list.Integer(i), list.Real(i));
    }
  }
  sink_("]");
}

}  // namespace

std::string JsonText(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/false,
                                   nlohmann::json::error_handler_t::replace);
}

void WriteJsonOf(const Record& record, const JsonSink& sink) { Writer(sink).Write(record); }

void WriteJsonOf(const List& list, const JsonSink& sink) { Writer(sink).Write(list); }

}  // namespace ttfd::ttmlir
