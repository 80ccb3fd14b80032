// JSON as text.
#include "client/cli/json.h"

#include "client/cli/printing.h"

namespace ttfd::cli {

std::string JsonText(const Json& json) {
  const std::string text =
      json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
  return Printable(text, Newlines::kKeep);  // control characters that JSON allows in strings
}

std::string JsonLine(const Json& json) {
  const std::string text =
      json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
  return Printable(text, Newlines::kKeep);
}

Json ClientJson(const client::SessionClient& client) {
  return {{"session", client.session},
          {"client_name", client.client_name},
          {"user", client.user},
          {"uid", client.uid},
          {"pid", JsonOf(client.pid)}};
}

void PrintJson(const Json& json) { PrintText(JsonText(json)); }

}  // namespace ttfd::cli
