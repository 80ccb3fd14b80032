// A snapshot of a stopped card as a file.
#include "runtime/card/snapshot_file.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/abi/version.h"
#include "runtime/base/bytes.h"

namespace ttfd {
namespace {

using Json = nlohmann::ordered_json;

// The words of a struct of them.
template <typename Struct>
Json Words(const Struct& words) {
  const ByteSpan bytes = BytesOf(words);
  size_t end = bytes.size();
  while (end > 0 && LoadAt<uint32_t>(bytes.data() + end - 4) == 0) end -= 4;
  Json list = Json::array();
  for (size_t at = 0; at < end; at += 4) list.push_back(LoadAt<uint32_t>(bytes.data() + at));
  return list;
}

Json TileJson(hw::Coordinate tile) { return Json::array({tile.x, tile.y}); }

hw::Coordinate TileFrom(const Json& json) {
  return {json.at(0).get<uint32_t>(), json.at(1).get<uint32_t>()};
}

// Without its place.
Json HartsJson(const TileSnapshot& tile) {
  Json harts = Json::array();
  for (const abi::HartStatus& status : tile.status) harts.push_back(Words(status));
  Json json = {{"harts", harts}, {"pc", Words(tile.pc)}};
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    if (const std::optional<EngineWait>& wait = tile.waits[hart]) {
      json["waits"].push_back(
          {{"hart", hart}, {"instruction", wait->instruction}, {"condition", wait->condition}});
    }
  }
  return json;
}

Json TileSnapshotJson(const TileSnapshot& tile, const abi::ControlBlock& block) {
  Json json = HartsJson(tile);
  json["tile"] = TileJson(tile.tile);
  json["control_block"] = Words(block);
  return json;
}

Json WorkersJson(const std::vector<TileSnapshot>& workers) {
  Json runs = Json::array();
  Json last;
  for (const TileSnapshot& worker : workers) {
    Json harts = HartsJson(worker);
    if (harts != last) runs.push_back({{"tiles", Json::array()}, {"shows", harts}});
    runs.back()["tiles"].push_back(TileJson(worker.tile));
    last = std::move(harts);
  }
  return runs;
}

Json FaultJson(const DeviceFault& fault) {
  return {{"tile", TileJson(fault.tile)},           {"hart", fault.hart}, {"pc", fault.pc},
          {"return_address", fault.return_address}, {"what", fault.what}, {"text", fault.text}};
}

DeviceFault FaultFrom(const Json& json) {
  DeviceFault fault;
  fault.tile = TileFrom(json.at("tile"));
  json.at("hart").get_to(fault.hart);
  json.at("pc").get_to(fault.pc);
  json.at("return_address").get_to(fault.return_address);
  json.at("what").get_to(fault.what);
  json.at("text").get_to(fault.text);
  return fault;
}

Json DamageJson(const FirmwareDamage& damage) {
  return {{"where", damage.where},         {"what", damage.what},
          {"tile", TileJson(damage.tile)}, {"hardware_queue", damage.hardware_queue},
          {"worker", damage.worker},       {"address", damage.address},
          {"expected", damage.expected},   {"found", damage.found}};
}

FirmwareDamage DamageFrom(const Json& json) {
  FirmwareDamage damage;
  json.at("where").get_to(damage.where);
  json.at("what").get_to(damage.what);
  damage.tile = TileFrom(json.at("tile"));
  json.at("hardware_queue").get_to(damage.hardware_queue);
  json.at("worker").get_to(damage.worker);
  json.at("address").get_to(damage.address);
  json.at("expected").get_to(damage.expected);
  json.at("found").get_to(damage.found);
  return damage;
}

Json CommandJson(const CommandState& command) {
  Json json = {{"ticket", command.ticket},
               {"first_entry", command.first_entry},
               {"event_before", command.event_before}};
  if (!command.launches.has_value()) return json;
  const LaunchCounts& launches = *command.launches;
  json["launches"] = {{"stream", launches.stream},
                      {"first_go", launches.first_go},
                      {"last_go", launches.last_go},
                      {"behind", launches.behind},
                      {"counter", launches.counter}};
  return json;
}

Json HostJson(const QueueState& host) {
  Json in_flight = Json::array();
  for (const CommandState& command : host.in_flight) in_flight.push_back(CommandJson(command));
  return {{"entries_announced", host.entries_announced},
          {"entries_taken", host.entries_taken},
          {"awaits_completions", host.awaits_completions},
          {"events_received", host.events_received},
          {"events_encoded", host.events_encoded},
          {"gos", host.gos},
          {"launched", host.launched},
          {"base", host.base},
          {"in_flight", in_flight}};
}

// Reads the file. The library says with an exception what is not there or of another type; `problem` is the rest.
class Parser {
 public:
  StoppedCard FromJson(const Json& json) {
    StoppedCard stopped;
    if (json.at("protocol").get<uint32_t>() != abi::kProtocolVersion) {
      Refuse("of another protocol version");
      return stopped;
    }
    CardSnapshot& card = stopped.card;
    json.at("columns").get_to(card.columns);
    if (card.columns == 0) Refuse("no columns");
    for (const Json& one : json.at("queues")) {
      QueueSnapshot& queue = card.queues.emplace_back();
      TileSnapshotFrom(one.at("prefetch"), &queue.prefetch, &queue.prefetch_block);
      TileSnapshotFrom(one.at("dispatch"), &queue.dispatch, &queue.dispatch_block);
      FromWords(one.at("streams"), &queue.streams);
    }
    card.workers = WorkersFrom(json.at("workers"));
    if (json.contains("fault")) card.fault = FaultFrom(json.at("fault"));
    if (json.contains("unreadable")) {
      card.unreadable =
          Error(StatusCode::kUnavailable, "{}", json.at("unreadable").get<std::string>());
    }
    for (const Json& one : json.at("damage")) card.damage.push_back(DamageFrom(one));
    for (const Json& one : json.at("hosts")) stopped.hosts.push_back(HostFrom(one));
    return stopped;
  }

  Status problem;

 private:
  void Refuse(const char* why) {
    if (problem.ok()) problem = InvalidArgument("no snapshot of a card: {}", why);
  }

  template <typename Struct>
  void FromWords(const Json& list, Struct* words) {
    const MutableByteSpan bytes = MutableBytesOf(*words);
    if (list.size() * 4 > bytes.size()) return Refuse("too many words");
    for (size_t i = 0; i < list.size(); ++i) {
      StoreAt(bytes.data() + 4 * i, list[i].get<uint32_t>());
    }
  }

  void HartsFrom(const Json& json, TileSnapshot* tile) {
    for (size_t hart = 0; hart < tile->status.size(); ++hart) {
      FromWords(json.at("harts").at(hart), &tile->status[hart]);
    }
    FromWords(json.at("pc"), &tile->pc);
    if (!json.contains("waits")) return;
    for (const Json& one : json.at("waits")) {
      const auto hart = one.at("hart").get<uint32_t>();
      if (hart >= hw::kHarts) return Refuse("no such hart");
      tile->waits[hart] = {one.at("instruction").get<std::string>(),
                           one.at("condition").get<std::string>()};
    }
  }

  void TileSnapshotFrom(const Json& json, TileSnapshot* tile, abi::ControlBlock* block) {
    HartsFrom(json, tile);
    tile->tile = TileFrom(json.at("tile"));
    FromWords(json.at("control_block"), block);
  }

  std::vector<TileSnapshot> WorkersFrom(const Json& runs) {
    std::vector<TileSnapshot> workers;
    for (const Json& run : runs) {
      TileSnapshot worker;
      HartsFrom(run.at("shows"), &worker);
      for (const Json& tile : run.at("tiles")) {
        worker.tile = TileFrom(tile);
        workers.push_back(worker);
      }
    }
    return workers;
  }

  CommandState CommandFrom(const Json& json) {
    CommandState command;
    json.at("ticket").get_to(command.ticket);
    json.at("first_entry").get_to(command.first_entry);
    json.at("event_before").get_to(command.event_before);
    if (!json.contains("launches")) return command;
    const Json& launches = json.at("launches");
    LaunchCounts& counts = command.launches.emplace();
    launches.at("stream").get_to(counts.stream);
    launches.at("first_go").get_to(counts.first_go);
    launches.at("last_go").get_to(counts.last_go);
    launches.at("behind").get_to(counts.behind);
    launches.at("counter").get_to(counts.counter);
    if (counts.stream >= abi::kMaxSubDevices) Refuse("no such stream");
    return command;
  }

  QueueState HostFrom(const Json& json) {
    QueueState host;
    json.at("entries_announced").get_to(host.entries_announced);
    json.at("entries_taken").get_to(host.entries_taken);
    json.at("awaits_completions").get_to(host.awaits_completions);
    json.at("events_received").get_to(host.events_received);
    json.at("events_encoded").get_to(host.events_encoded);
    json.at("gos").get_to(host.gos);
    json.at("launched").get_to(host.launched);
    json.at("base").get_to(host.base);
    for (const Json& one : json.at("in_flight")) host.in_flight.push_back(CommandFrom(one));
    return host;
  }
};

}  // namespace

std::string SnapshotText(const StoppedCard& stopped) {
  const CardSnapshot& card = stopped.card;
  Json json = {{"protocol", abi::kProtocolVersion}, {"columns", card.columns}};
  json["queues"] = Json::array();
  for (const QueueSnapshot& queue : card.queues) {
    json["queues"].push_back({{"prefetch", TileSnapshotJson(queue.prefetch, queue.prefetch_block)},
                              {"dispatch", TileSnapshotJson(queue.dispatch, queue.dispatch_block)},
                              {"streams", Words(queue.streams)}});
  }
  json["workers"] = WorkersJson(card.workers);
  if (card.fault.has_value()) json["fault"] = FaultJson(*card.fault);
  if (!card.unreadable.ok()) json["unreadable"] = std::string(StatusMessage(card.unreadable));
  json["damage"] = Json::array();
  for (const FirmwareDamage& damage : card.damage) json["damage"].push_back(DamageJson(damage));
  json["hosts"] = Json::array();
  for (const QueueState& host : stopped.hosts) json["hosts"].push_back(HostJson(host));
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + '\n';
}

StatusOr<StoppedCard> ParseSnapshot(std::string_view text) {
  try {
    Parser parser;
    StoppedCard stopped = parser.FromJson(Json::parse(text));
    RETURN_IF_ERROR(parser.problem);
    return stopped;
  } catch (const Json::exception& error) {
    return InvalidArgument("no snapshot of a card: {}", error.what());
  }
}

}  // namespace ttfd
