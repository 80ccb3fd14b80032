// The waits of the compute SDK are enough, and each of them is needed: with the hazard "compute", kernels of the SDK
// leave the words of the plain model under every seed, and a kernel in whose code one wait is a NOP does not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/elf/symbol_table.h"
#include "runtime/hw/tensix_isa.h"
#include "runtime/sim/tensix/opcodes.h"
#include "tests/support/compute_program.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

namespace isa = hw::tensix;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr uint32_t kNop = 0x13;         // addi x0, x0, 0
constexpr uint64_t kSeeds = 12;         // at most, until a missing wait is found
constexpr uint32_t kTiles = 12;         // more than the engine holds
constexpr uint32_t kMostPolls = 20000;  // of a launch
constexpr char kPlain[] = "sim:board=p100a";

std::string Hazards(uint64_t seed) {
  return fmt::format("{},hazards=compute,seed={}", kPlain, seed);
}

// A wait in the code of one hart.
struct Site {
  hw::Hart hart = hw::kTrisc0;
  size_t offset = 0;  // in the image
  std::string name;   // "PopFront: Synchronize": where it is in the SDK
  std::string line;   // the same with the line: which of the waits there
};

uint32_t WordAt(const KernelImage& image, size_t offset) {
  return LoadAt<uint32_t>(image.bytes.data() + offset);
}

// A load whose value is used by an instruction that changes nothing: of Synchronize() or ReadConfig().
bool IsSettlingLoad(const KernelImage& image, size_t offset) {
  const uint32_t load = WordAt(image, offset);
  if ((load & 0x707F) != 0x2003) return false;
  const uint32_t rd = load >> 7 & 31;
  const uint32_t use = 0x13 | rd << 7 | rd << 15;
  constexpr size_t kNear = 16;  // bytes: the compiler may move other instructions between
  for (size_t at = offset + 4; at <= offset + kNear && at + 4 <= image.bytes.size(); at += 4) {
    if (WordAt(image, at) == use) return true;
  }
  return false;
}

bool IsWaitOfEngine(const KernelImage& image, size_t offset) {
  const uint32_t word = WordAt(image, offset);
  const uint32_t instruction = isa::InstructionOf(word);
  const uint32_t opcode = isa::OpcodeOf(instruction);
  return (word & 3) != 3 &&
         (opcode == isa::STALLWAIT::kOpcode || opcode == isa::SEMWAIT::kOpcode) &&
         (instruction & ~sim::tensix::OpcodeAt(instruction).known_bits) == 0;
}

// The function of the SDK that waits, and the one that it calls for that.
Site SiteAt(const KernelImage& image, size_t offset) {
  const auto place = image.symbols->Find(image.symbol_base + static_cast<uint32_t>(offset));
  const uint32_t opcode = isa::OpcodeOf(isa::InstructionOf(WordAt(image, offset)));
  std::string how = opcode == isa::SEMWAIT::kOpcode ? "SEMWAIT" : "STALLWAIT";
  for (const SymbolFrame& frame : place.frames) {
    std::string_view name = frame.function;
    if (const size_t end = name.rfind("::"); end != name.npos) name.remove_prefix(end + 2);
    if (name == "Load" || name == "Settle" || name.starts_with("Push")) continue;
    if (name != "Synchronize" && name != "ReadConfig" && name != "AwaitUnits") {
      const std::string text = fmt::format("{}: {}", name, how);
      return {image.hart, offset, text, fmt::format("{} {}:{}", text, frame.file, frame.line)};
    }
    how = name;
  }
  return {image.hart, offset, "", ""};
}

std::vector<Site> FindSites(const std::string& kernel) {
  std::vector<Site> sites;
  for (const char* hart : {"trisc0", "trisc1", "trisc2"}) {
    const std::string name = fmt::format("{}_{}", kernel, hart);
    const auto image = LoadKernel(KernelElf(name), name);
    EXPECT_TRUE(image.ok()) << image.status().ToString();
    for (size_t offset = 0; offset + 4 <= (*image)->bytes.size(); offset += 4) {
      if (!IsWaitOfEngine(**image, offset) && !IsSettlingLoad(**image, offset)) continue;
      sites.push_back(SiteAt(**image, offset));
    }
  }
  return sites;
}

struct Case {
  const char* kernel;
  uint32_t inputs;
  std::vector<uint32_t> arguments;
  isa::Format format = isa::Format::kFloat16B;
};
// Operations of compute_pairs.cc: a product and a sum of two tiles of Dst, also of tiles that are unpacked there, and a
// transposition. Of compute_dst.cc: a filling, and broadcasts of rows.
const Case kCases[] = {{"chain_compute", 3, {}},
                       {"compute_pairs", 2, {23}},
                       {"compute_pairs", 2, {23}, isa::Format::kFloat32},
                       {"compute_pairs", 2, {20}},
                       {"compute_dst", 3, {13, 0}},
                       {"compute_dst", 3, {16}},
                       {"compute_mixture", 2, {}}};

// One kernel, on the same tiles in each run.
class Lab {
 public:
  explicit Lab(const Case& of) : case_(of) {
    Random random(1);
    inputs_.resize(of.inputs);
    for (auto& input : inputs_) {
      const bool scales = &input == &inputs_[1];  // a scaler of reductions
      std::vector<float> numbers;
      for (uint32_t i = 0; i < kTiles * Tile::kWords; ++i) {
        const uint32_t word = i % Tile::kWords;
        const bool top = word % (Tile::kWords / 4) < Tile::kFace && word < Tile::kWords / 2;
        const auto number = static_cast<float>(random() % 64) / 16;
        numbers.push_back(!scales ? number : top ? 1.0f : 0.0f);
      }
      input = EncodeTiles(of.format, numbers);
    }
    EXPECT_EQ(Run(kPlain, 0, {}, 0), "");
  }

  // Runs the kernel on a device, with `word` in the place of a wait. Empty: the result is that of the first run.
  std::string Run(const std::string& device, uint64_t seed, const Site& site, uint32_t word) {
    BootedCard card(device.c_str());
    ComputeKernels kernels{.compute = case_.kernel, .inputs = case_.inputs};
    kernels.formats.assign(case_.inputs + 1, case_.format);
    kernels.reader = seed % 2 == 0 ? "slow_chain_reader" : "chain_reader";
    kernels.writer = seed % 2 == 0 ? "chain_writer" : "slow_chain_writer";
    kernels.change = [&](KernelImage& image) {
      if (!site.name.empty() && image.hart == site.hart) {
        StoreAt(image.bytes.data() + site.offset, word);
      }
    };
    ComputeProgram program(card, kernels);
    const Status launched = program.Launch(inputs_, case_.arguments);
    const Status ended = launched.ok() ? Finish(card) : launched;
    if (card.device->fault().has_value()) return card.device->fault()->text;
    if (!ended.ok()) return ended.ToString();
    const auto words = program.Result<std::byte>(kTiles);
    if (!words.ok()) return words.status().ToString();
    if (expected_.empty()) expected_ = *words;
    return *words == expected_ ? "" : "other words";
  }

  // The first seed under which a run without the wait goes wrong, and how.
  std::string RunWithout(const Site& site) {
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      std::string found = Run(Hazards(seed), seed, site, kNop);
      if (!found.empty()) return found;
    }
    return "";
  }

 private:
  static Status Finish(BootedCard& card) {
    RETURN_IF_ERROR(card.Event());
    for (uint32_t polls = 0; !card->idle(); ++polls) {
      if (polls == kMostPolls) return Internal("the launch does not end");
      RETURN_IF_ERROR(card->Poll());
    }
    return OkStatus();
  }

  const Case& case_;
  std::vector<std::vector<std::byte>> inputs_;
  std::vector<std::byte> expected_;
};

TEST(ComputeWaits, InPlace_AreEnough) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("hazards");
  const std::string seeds = TestEnvironment("TTFD_SEEDS");
  std::vector<Case> kernels(std::begin(kCases), std::end(kCases));
  kernels.push_back({"tile_math", 2, {}});
  for (const Case& kernel : kernels) {
    Lab lab(kernel);
    for (uint64_t seed = 1; seed <= (seeds.empty() ? 2 : std::stoull(seeds)); ++seed) {
      EXPECT_EQ(lab.Run(Hazards(seed), seed, {}, 0), "") << kernel.kernel << " seed " << seed;
    }
  }
}

// Waits that these kernels could do without: they do not change the format of their output, nor push anything after the
// last tile was handed over.
const std::set<std::string> kForOtherKernels = {"ConfigurePacker: Synchronize",
                                                "RunKernel: Synchronize"};

TEST(ComputeWaits, LeftOutOnce_AreFound) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("hazards");
  std::map<std::string, std::string> names;  // by line, of the waits that are executed
  std::set<std::string> executed, found;     // names; lines
  for (const Case& kernel : kCases) {
    Lab lab(kernel);
    for (const Site& site : FindSites(kernel.kernel)) {
      ASSERT_NE(site.name, "") << "a wait of " << kernel.kernel << " at " << site.offset;
      if (found.contains(site.line)) continue;
      if (kForOtherKernels.contains(site.name) && executed.contains(site.name)) continue;
      // The word 0 is a fault where it is executed.
      if (lab.Run(kPlain, 0, site, 0).empty()) continue;
      names[site.line] = site.name;
      executed.insert(site.name);
      const std::string how = lab.RunWithout(site);
      if (how.empty()) continue;
      found.insert(site.line);
      EXPECT_THAT(how, HasSubstr("device fault: ")) << site.line << " is found by its effect only";
    }
  }
  std::set<std::string> not_found;
  for (const auto& [line, name] : names) {
    if (!found.contains(line)) not_found.insert(name);
  }
  EXPECT_EQ(not_found, kForOtherKernels);
  EXPECT_THAT(executed, IsSupersetOf({"ConfigureSources: Synchronize",
                                      "Unpack: Synchronize",
                                      "Unpack: ReadConfig",
                                      "UnpackToDst: Synchronize",
                                      "UnpackToDst: ReadConfig",
                                      "UnpackToDst: SEMWAIT",
                                      "UnpackToDst: STALLWAIT",
                                      "UnpackToSrcB: Synchronize",
                                      "UnpackToSrcB: ReadConfig",
                                      "FillOutside: AwaitUnits",
                                      "AwaitUnpackToDst: SEMWAIT",
                                      "AwaitUnpackToDst: STALLWAIT",
                                      "PopFront: Synchronize",
                                      "tile_regs_acquire: SEMWAIT",
                                      "SetDstSteps<>: AwaitUnits",
                                      "SelectDstRow: AwaitUnits",
                                      "tile_regs_commit: STALLWAIT",
                                      "tile_regs_wait: SEMWAIT",
                                      "Pack: Synchronize",
                                      "Pack: ReadConfig",
                                      "tile_regs_release: STALLWAIT",
                                      "cb_push_back: Synchronize"}));
}

}  // namespace
}  // namespace ttfd
