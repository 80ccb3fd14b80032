// Summaries of hang reports, to JSON and back.
#include "daemon/hang/hang_summary.h"

#include <nlohmann/json.hpp>
#include <type_traits>

#include "daemon/hang/hang_text.h"

namespace ttfd {
namespace {

using Json = nlohmann::ordered_json;
using Milliseconds = std::chrono::milliseconds;

// False: the object has no such field, or one of another type.
template <typename Value>
bool Get(const Json& object, const char* name, Value* value) {
  const auto found = object.find(name);
  if (found == object.end()) return false;
  if constexpr (std::is_same_v<Value, std::string>) {
    if (found->is_string()) *value = found->template get<std::string>();
    return found->is_string();
  } else {
    if (found->is_number_unsigned()) *value = found->template get<Value>();
    return found->is_number_unsigned();
  }
}

std::optional<HangOffender> ParseOffender(const Json& object) {
  HangOffender offender;
  const auto client = object.find("client");
  const auto kernels = object.find("kernels");
  if (client == object.end() || kernels == object.end() || !kernels->is_array()) return {};
  SessionClient& who = offender.client;
  const bool whole = Get(*client, "session", &who.session) && Get(*client, "name", &who.name) &&
                     Get(*client, "user", &who.user) && Get(*client, "uid", &who.uid) &&
                     Get(*client, "pid", &who.pid) && Get(object, "queue", &offender.queue) &&
                     Get(object, "value", &offender.value);
  if (!whole) return {};
  for (const Json& kernel : *kernels) {
    if (!kernel.is_string()) return {};
    offender.kernels.push_back(kernel.get<std::string>());
  }
  return offender;
}

}  // namespace

std::string SummaryJson(const HangReport& report) {
  Json json = {
      {"id", report.id},
      {"time_unix_ms",
       static_cast<uint64_t>(
           std::chrono::duration_cast<Milliseconds>(report.time.time_since_epoch()).count())},
      {"reason", report.reason},
      {"headline", report.headline}};
  if (const HangSlice* const slice = report.offending()) {
    json["offender"] = {{"client", ClientJson(slice->client)},
                        {"queue", slice->queue},
                        {"value", slice->value},
                        {"kernels", slice->kernels}};
  }
  return JsonText(json);
}

std::optional<HangSummary> ParseSummary(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  HangSummary summary;
  uint64_t time_ms = 0;
  if (!json.is_object() || !Get(json, "time_unix_ms", &time_ms) ||
      !Get(json, "reason", &summary.reason) || !Get(json, "headline", &summary.headline)) {
    return {};
  }
  constexpr uint64_t kYear2200 =
      7'258'118'400'000;  // what lies far beyond does not fit the clock's type
  if (time_ms > kYear2200) return {};
  summary.time = std::chrono::system_clock::time_point(Milliseconds(time_ms));
  const auto offender = json.find("offender");
  if (offender != json.end() && !(summary.offender = ParseOffender(*offender))) return {};
  return summary;
}

}  // namespace ttfd
