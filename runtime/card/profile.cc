// Where the card's harts spend their time.
#include "runtime/card/profile.h"

#include "runtime/abi/hart_status.h"
#include "runtime/abi/l1_map.h"
#include "runtime/base/utf8.h"
#include "runtime/boot/hart_state.h"

namespace ttfd {
namespace {

constexpr uint32_t kProgramAddress =
    abi::kHartStatusAddress + offsetof(abi::HartStatus, command);  // of BRISC, who takes launches
constexpr uint32_t kWaypointAddress = abi::kHartStatusAddress + offsetof(abi::HartStatus, waypoint);

bool WaitsForWork(uint32_t waypoint) {
  return waypoint == abi::kWaypointGo || waypoint == abi::kWaypointIdle ||
         waypoint == abi::kWaypointFetch;
}

// Names come from files of clients. Semicolons separate frames, newlines lines.
std::string FrameName(std::string_view name) {
  return Printable(name, std::string_view::npos, ";");
}

std::string ImageName(const CodePlace& place) {
  if (place.image == CodePlace::Image::kNone) return "unknown code";
  return FrameName(place.image == CodePlace::Image::kOtherKernel ? ImageText(place) : place.name);
}

bool IsKernel(const CodePlace& place) {
  return place.image == CodePlace::Image::kKernel || place.image == CodePlace::Image::kOtherKernel;
}

void AppendFrames(const CodePlace& place, std::string* folded) {
  if (place.symbol.frames.empty()) {
    *folded += fmt::format(";+{:#x}", place.offset);
    return;
  }
  for (auto frame = place.symbol.frames.rbegin(); frame != place.symbol.frames.rend(); ++frame) {
    *folded += ";" + (frame->function.empty() ? "a call" : FrameName(frame->function));
  }
}

}  // namespace

StatusOr<std::unique_ptr<Profile>> Profile::Start(Device& device, Clock& clock,
                                                  std::span<const BootPlan> plans,
                                                  const CodeMap& code,
                                                  const ProfileOptions& options) {
  std::unique_ptr<Profile> profile(new Profile(device, clock, plans, code, options));
  if (!options.snapshots) {
    SampleOptions sampling;
    sampling.interval_clocks = options.interval_clocks;
    sampling.program_address = kProgramAddress;
    sampling.state_address = kWaypointAddress;
    sampling.state_stride = abi::kHartStatusBytes;
    StatusOr<std::unique_ptr<StackSampler>> sampler = device.SampleStacks(sampling);
    if (sampler.ok()) {
      profile->sampler_ = *std::move(sampler);
      profile->result_.whole_stacks = true;
      profile->result_.interval_clocks = options.interval_clocks;
      return profile;
    }
    if (sampler.status().code() != StatusCode::kUnimplemented) return sampler.status();
  }
  if (!HasPcSnapshots(device)) {
    return Error(StatusCode::kUnimplemented,
                 "the backend {} shows neither stacks nor program counters", device.info().backend);
  }
  return profile;
}

Profile::Profile(Device& device, Clock& clock, std::span<const BootPlan> plans, const CodeMap& code,
                 const ProfileOptions& options)
    : device_(device), clock_(clock), code_(code), options_(options), next_snapshot_(clock.Now()) {
  for (const BootPlan& plan : plans) {
    roles_[{plan.prefetch_tile.x, plan.prefetch_tile.y}] = {abi::kRolePrefetch, -1};
    roles_[{plan.dispatch_tile.x, plan.dispatch_tile.y}] = {abi::kRoleDispatch, -1};
  }
  for (uint32_t worker = 0; worker < plans.front().worker_count(); ++worker) {
    const hw::Coordinate tile = plans.front().WorkerTile(worker);
    roles_[{tile.x, tile.y}] = {abi::kRoleWorker, static_cast<int32_t>(worker)};
  }
}

bool Profile::Wanted(const TileRole& role) const {
  if (options_.workers.none()) return true;
  return role.worker >= 0 && options_.workers.test(static_cast<size_t>(role.worker));
}

void Profile::Gather() {
  if (sampler_ == nullptr) return ReadSnapshots();
  for (const StackSample& sample : sampler_->Take(&result_.lost)) Add(sample);
}

ProfileResult Profile::Finish() {
  if (sampler_ != nullptr) Gather();
  sampler_.reset();
  return std::move(result_);
}

void Profile::Add(const StackSample& sample) {
  const auto role = roles_.find({sample.tile.x, sample.tile.y});
  if (role == roles_.end() || !Wanted(role->second)) return;
  if (!options_.idle && WaitsForWork(sample.state_word)) return;
  const bool worker = role->second.role == abi::kRoleWorker;
  std::string line = "dispatch";
  if (worker) {
    line = options_.program_name ? FrameName(options_.program_name(sample.program_word))
                                 : fmt::format("program {}", sample.program_word);
    if (WaitsForWork(sample.state_word)) line = "idle";
  }
  line += ";" + Folded(role->second.role, sample);
  if (sample.sleeps) line += ";(waits)";
  result_.samples += sample.count;
  if (const auto found = result_.stacks.find(line); found != result_.stacks.end()) {
    found->second += sample.count;
  } else if (result_.stacks.size() < kMaxFoldedStacks) {
    result_.stacks.emplace(std::move(line), sample.count);
  } else {
    result_.lost += sample.count;
  }
}

const std::string& Profile::Folded(abi::Role role, const StackSample& sample) {
  constexpr size_t kMaxRemembered = 4 * kMaxFoldedStacks;
  if (folded_.size() > kMaxRemembered) folded_.clear();
  const auto [entry, fresh] =
      folded_.try_emplace({role, sample.hart, sample.program_word, sample.stack});
  if (!fresh) return entry->second;
  std::vector<CodePlace> places;
  for (size_t i = 0; i < sample.stack.size(); ++i) {
    // A return address is behind its call.
    const uint32_t pc = i == 0 ? sample.stack[i] : sample.stack[i] - 4;
    places.push_back(code_.Find(role, sample.hart, pc, sample.program_word));
  }
  // The stack of a kernel begins with the kernel, not with the base firmware that called it.
  size_t frames = places.size();
  while (frames > 1 && IsKernel(places.front()) && !IsKernel(places[frames - 1])) {
    --frames;
  }
  entry->second = ImageName(places.front()) + ";" + std::string(HartName(sample.hart));
  for (size_t i = frames; i-- > 0;) AppendFrames(places[i], &entry->second);
  return entry->second;
}

// A tile that cannot be read is not sampled: whoever runs the card hears of it elsewhere.
void Profile::ReadSnapshots() {
  const TimePoint now = clock_.Now();
  if (now < next_snapshot_) return;
  next_snapshot_ = now + options_.snapshot_interval;
  for (const auto& [place, role] : roles_) {
    if (!Wanted(role)) continue;
    const hw::Coordinate tile{place.first, place.second};
    const StatusOr<std::unique_ptr<Window>> window = device_.OpenWindow(UnicastTarget(tile));
    if (!window.ok()) return;
    const StatusOr<TileStatus> status = ReadTileStatus(**window);
    if (!status.ok()) return;
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      const abi::HartStatus& own = (*status)[hart];
      if (own.state != abi::kHartReady) continue;
      if (!options_.idle && WaitsForWork(own.waypoint)) continue;
      StackSample sample;
      sample.tile = tile;
      sample.hart = hart;
      sample.program_word = (*status)[hw::kBrisc].command;
      sample.state_word = own.waypoint;
      sample.stack = {ReadPc(device_, **window, hart)};
      sample.count = 1;
      Add(sample);
    }
  }
}

}  // namespace ttfd
