// Output of --json: one value, its fields in the order they were set.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "ttfd/types.h"

namespace ttfd::cli {

using Json = nlohmann::ordered_json;

// null: unset.
template <typename Value>
Json JsonOf(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

// Indented by two spaces, one field a line. Names of clients may be any bytes: what is not UTF-8 becomes U+FFFD, and
// control characters become \u escapes (printing.h).
std::string JsonText(const Json& json);
void PrintJson(const Json& json);
// The same on one line, for a sequence of objects.
std::string JsonLine(const Json& json);

// List of the values that `each` makes of the elements; an empty list is a list too.
template <typename Range, typename Each>
Json JsonList(const Range& range, Each each) {
  Json list = Json::array();
  for (const auto& element : range) list.push_back(each(element));
  return list;
}

Json ClientJson(const client::SessionClient& client);

}  // namespace ttfd::cli
