// Statistics, floors and output of benchmark figures.
#include "tests/bench/figure.h"

#include <fmt/format.h>

#include <algorithm>

namespace ttfd::bench {
namespace {

constexpr Floor AtLeast(double value) { return {value, false}; }
constexpr Floor AtMost(double value) { return {value, true}; }

const std::map<std::string, Floor>& Floors() {
  static const auto* const floors = new std::map<std::string, Floor>{
      {"sim.hart1_alu.mips", AtLeast(400)},
      {"sim.idle_rss_mb", AtMost(32)},
      {"device.upload_mb_s", AtLeast(1500)},
      {"device.upload_2k_pages_mb_s", AtLeast(3000)},
      {"device.event_us", AtMost(15)},
      {"device.launch_per_s_120", AtLeast(15'000)},
      {"device.traced_launch_per_s_120", AtLeast(40'000)},
      {"fw.traced_launch.max_instr", AtMost(450)},
      {"fw.event_bare.total_instr", AtMost(350)},
      {"fw.event_full.total_instr", AtMost(650)},
      {"rpc.launch_over_bare_stream", AtMost(1.4)},
      {"rpc.launch_over_bare_stream_pinned", AtMost(1.2)},
      {"rpc.locks_per_launch", AtMost(12)},
      {"python.launch_over_cpp", AtMost(3)},
      {"hang.recovery_ms", AtMost(100)},
      {"sim.bounds_of_vector_add_percent", AtMost(3)},
      {"rpc.batched_cmds_per_s", AtLeast(1'000'000)},
      {"tensor.eager_op_us", AtMost(60)},
      {"tensor.traced_op_us", AtMost(60)},
      {"link.stream_16k_b_per_clock", AtLeast(36)},
      {"link.stream_32k_b_per_clock", AtLeast(36)},
      {"link.sender_instructions", AtMost(125)},
      {"link.receiver_instructions", AtMost(80)},
      {"link.first_segment_clocks", AtMost(1000)},
      {"link.ring_step_clocks", AtMost(1050)},
      {"link.gather_4x256k_b_per_clock", AtLeast(34)},
      {"link.gather_32x32k_b_per_clock", AtLeast(29)},
      {"ring.all_gather_1m_b_per_clock", AtLeast(55)},
      {"ring.reduce_scatter_1m_b_per_clock", AtLeast(55)},
      {"ring.all_reduce_1m_percent", AtLeast(60)},
      {"ring.all_reduce_4m_2_links_percent", AtLeast(60)},
      {"remote.write_4k_register_writes", AtMost(2)},
      {"remote.read_4k_register_writes", AtMost(7)},
      {"remote.boot_register_writes", AtMost(11'000)},
      {"remote.boot_time_ratio", AtMost(2)},
      {"remote.upload_b_per_clock", AtLeast(12)},
      {"remote.event_clocks", AtMost(6000)},
      {"graph.resident_clocks", AtMost(75)},
      {"graph.streamed_clocks", AtMost(100)},
      {"graph.chain_clocks", AtMost(160)},
      {"graph.tasks_per_s", AtLeast(1)},
      {"graph.relaunch_us", AtMost(1200)},
      {"graph.cancel_ms", AtMost(100)},
      {"graph.upload_1m_cpp_s", AtMost(2)},
      {"graph.upload_1m_python_s", AtMost(5)},
      {"share.jain_8", AtLeast(0.99)},
      {"share.light_wait_p99_replay_us", AtMost(3000)},
      {"share.light_wait_p99_floods_us", AtMost(2000)},
      {"share.light_p50_launches_ratio", AtMost(3)},
      {"share.light_p50_uploads_ratio", AtMost(6)},  // every core copies data then
  };
  return *floors;
}

// Five significant digits without an exponent.
std::string Number(double value) {
  if (value >= 10'000) return fmt::format("{:.0f}", value);
  if (value >= 100) return fmt::format("{:.1f}", value);
  if (value >= 1) return fmt::format("{:.2f}", value);
  return fmt::format("{:.4f}", value);
}

std::string FloorText(const std::string& name, double median) {
  const std::optional<Floor> floor = FloorOf(name);
  if (!floor) return "";
  const bool kept = floor->at_most ? median <= floor->value : median >= floor->value;
  return fmt::format("{} {:<9} {}", floor->at_most ? "<=" : ">=", Number(floor->value),
                     kept ? "ok" : "short");
}

}  // namespace

Statistics Summarize(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const size_t middle = samples.size() / 2;
  const double median =
      samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {median, samples.front(), samples.back()};
}

std::optional<Floor> FloorOf(const std::string& name) {
  const auto found = Floors().find(name);
  if (found == Floors().end()) return std::nullopt;
  return found->second;
}

namespace {

// Figures of the model, the firmware and the links, then those that need a daemon.
constexpr const char* kNames[] = {
    "sim.hart1_alu.mips",
    "sim.hart1_mix.mips",
    "sim.hart120.mips",
    "sim.noc_16k_gb_s",
    "sim.ready_ms",
    "sim.idle_rss_mb",
    "link.stream_16k_b_per_clock",
    "link.stream_32k_b_per_clock",
    "link.sender_instructions",
    "link.receiver_instructions",
    "link.first_segment_clocks",
    "link.ring_step_clocks",
    "link.gather_4x256k_b_per_clock",
    "link.gather_32x32k_b_per_clock",
    "remote.write_4k_register_writes",
    "remote.read_4k_register_writes",
    "remote.boot_register_writes",
    "remote.boot_time_ratio",
    "remote.upload_b_per_clock",
    "remote.event_clocks",
    "fw.traced_launch.max_instr",
    "fw.event_bare.total_instr",
    "fw.event_full.total_instr",
    "device.upload_mb_s",
    "device.upload_2k_pages_mb_s",
    "device.download_mb_s",
    "device.event_us",
    "device.launch_per_s_120",
    "device.traced_launch_per_s_120",
    "daemon.idle_cpu_percent",
    "rpc.launch_us",
    "python.launch_us",
    "python.launch_over_cpp",
    "rpc.bare_stream_us",
    "rpc.launch_over_bare_stream",
    "rpc.launch_over_bare_stream_pinned",
    "rpc.wakeups_per_launch",
    "rpc.locks_per_launch",
    "rpc.batched_cmds_per_s",
    "rpc.launches_per_s",
    "rpc.upload_mb_s",
    "share.quantum_us",
    "share.jain_8",
    "share.light_wait_p99_us",
    "share.light_p50_ratio",
    "share.light_wait_p99_floods_us",
    "ring.all_gather_1m_b_per_clock",
    "ring.reduce_scatter_1m_b_per_clock",
    "ring.all_reduce_1m_percent",
    "ring.all_reduce_4m_2_links_percent",
    "ring.all_reduce_4k_clocks",
    "rpc.launches_per_s_1",
    "rpc.launches_per_s_8",
    "rpc.launches_per_s_64",
    "rpc.launches_per_s_512",
    "hang.recovery_ms",
    "tensor.matmul_1024_s",
    "tensor.mlp_s",
    "tensor.attention_s",
    "tensor.eager_op_us",
    "tensor.traced_op_us",
    "llama.step_ms",
    "graph.resident_clocks",
    "graph.streamed_clocks",
    "graph.chain_clocks",
    "graph.timed_clocks",
    "graph.tasks_per_s",
    "graph.relaunch_us",
    "graph.cancel_ms",
    "graph.upload_1m_cpp_s",
    "graph.upload_1m_python_s",
};

}  // namespace

const std::vector<std::string>& AllNames() {
  static const auto* const names =
      new std::vector<std::string>(std::begin(kNames), std::end(kNames));
  return *names;
}

std::string Table(const std::vector<Figure>& figures) {
  std::string text = fmt::format("{:<28} {:>11} {:>11} {:>11} {:>7}  {:<10} {}\n", "name", "median",
                                 "min", "max", "spread", "unit", "floor");
  for (const Figure& figure : figures) {
    const Statistics s = Summarize(figure.samples);
    const double spread = s.median > 0 ? (s.max - s.min) / s.median * 100 : 0;
    text += fmt::format("{:<28} {:>11} {:>11} {:>11} {:>6.0f}%  {:<10} {}\n", figure.name,
                        Number(s.median), Number(s.min), Number(s.max), spread, figure.unit,
                        FloorText(figure.name, s.median));
  }
  return text;
}

std::string ComparisonTable(const std::vector<Figure>& figures, const std::string& one,
                            const std::string& other) {
  std::string text =
      fmt::format("{:<28} {:>11} {:>11}  {:<10} {:>9}\n", "name", one, other, "unit", "quotient");
  for (const Figure& figure : figures) {
    if (!figure.name.starts_with(one + ".")) continue;
    const std::string name = figure.name.substr(one.size() + 1);
    const std::string counterpart = fmt::format("{}.{}", other, name);
    const auto found = std::find_if(figures.begin(), figures.end(), [&](const Figure& candidate) {
      return candidate.name == counterpart;
    });
    if (found == figures.end()) continue;
    const double ours = Summarize(figure.samples).median;
    const double theirs = Summarize(found->samples).median;
    text += fmt::format("{:<28} {:>11} {:>11}  {:<10} {:>9}\n", name, Number(ours), Number(theirs),
                        figure.unit, theirs > 0 ? Number(ours / theirs) : "-");
  }
  return text;
}

std::string Json(const std::vector<Figure>& figures) {
  std::string text = "{";
  const char* separator = "\n";
  for (const Figure& figure : figures) {
    const Statistics s = Summarize(figure.samples);
    text += fmt::format(
        "{}  \"{}\": {{\"median\": {:.6g}, \"min\": {:.6g}, \"max\": {:.6g}, \"unit\": \"{}\"}}",
        separator, figure.name, s.median, s.min, s.max, figure.unit);
    separator = ",\n";
  }
  return text + "\n}\n";
}

}  // namespace ttfd::bench
