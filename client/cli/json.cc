// JSON as text.
#include "client/cli/json.h"

#include <fmt/format.h>

namespace ttfd::cli {

std::string JsonText(const Json& json) {
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

void PrintJson(const Json& json) { fmt::print("{}", JsonText(json)); }

}  // namespace ttfd::cli
