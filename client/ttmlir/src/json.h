// JSON of a record, as FlatBuffers' compiler prints it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "client/ttmlir/src/record.h"

namespace ttfd::ttmlir {

using JsonSink = std::function<void(std::string_view part)>;

// Numbers that are absent have their defaults, or null where they are optional; other fields are left out. A union is
// preceded by a field NAME_type. Numbers of enums are their names where they have one, flags their names separated by
// spaces.
void WriteJsonOf(const Record& record, const JsonSink& sink);
void WriteJsonOf(const List& list, const JsonSink& sink);

// A text in quotes; bytes that are not UTF-8 become U+FFFD.
std::string JsonText(std::string_view text);
// The value of an enum or number, which has both forms: `BFloat16`, `-1`, `0.5`, without quotes.
std::string NumberText(const Type& type, int64_t integer, double real);

}  // namespace ttfd::ttmlir
