#include "tests/peer/tensix_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/hw/grid.h"
#include "runtime/hw/pcie.h"
#include "runtime/hw/tensix.h"
#include "tests/peer/driver_process.h"

namespace ttfd {
namespace {

constexpr hw::Coordinate kTile = {1, 2};
constexpr uint32_t kMachineWindow = 1;  // window 0 shows L1
constexpr uint32_t kShownBytes = 32;    // the driver prints as many as they are
constexpr uint64_t kWindowMask = hw::kTlbWindow2MBytes - 1;
constexpr uint32_t kPattern = 7;  // in results before a program

// What a program adds to a sequence: its results are the last line.
class TensixSequence {
 public:
  explicit TensixSequence(uint32_t batch) : trisc_(batch % 3) {
    lines_ = {"callbacks", "init"};
    Point(0, 0);
    Point(kMachineWindow, hw::kSoftReset0 & ~kWindowMask);
    AddWords(hw::kTriscDefaultPc[trisc_], TensixProbe().words());
    for (uint32_t tile = 0; tile < TensixProgram::kTiles; ++tile) {
      AddWords(TensixProgram::kOperands + tile * TensixProgram::kTileBytes,
               RandomOperand(batch, tile));
    }
  }

  // The program, whose results are to be hashed or shown in parts.
  void Add(const TensixProgram& program, bool shown) {
    lines_.push_back(fmt::format("wp {:x} {:x} {:x}", L1(TensixProgram::kResults),
                                 program.result_bytes(), kPattern));
    AddWords(TensixProgram::kList, program.words());
    Reset(hw::kSoftResetAllHarts);
    Reset(hw::kSoftResetAllHarts & ~(hw::kSoftResetTrisc0 << trisc_));
    lines_.push_back(fmt::format("clock {:x}", program.clocks()));
    lines_.push_back(fmt::format("r {:x} 4", L1(TensixProgram::kResults)));
    const uint32_t part = shown ? kShownBytes : program.result_bytes();
    for (uint32_t at = 0; at < program.result_bytes(); at += part) {
      const uint32_t bytes = std::min(part, program.result_bytes() - at);
      lines_.push_back(fmt::format("r {:x} {:x}", L1(TensixProgram::kResults + at), bytes));
    }
    ends_.push_back(lines_.size());
  }

  const Sequence& lines() const { return lines_; }
  // Numbers of lines behind each program.
  const std::vector<size_t>& ends() const { return ends_; }

 private:
  static uint64_t L1(uint32_t address) { return hw::kModelBar0Address + address; }

  void Word(uint64_t address, uint32_t value) {
    lines_.push_back(fmt::format("w {:x} 4 {:x}", address, value));
  }
  void AddWords(uint32_t address, const std::vector<uint32_t>& words) {
    std::string line = fmt::format("ww {:x}", L1(address));
    for (const uint32_t word : words) fmt::format_to(std::back_inserter(line), " {:x}", word);
    lines_.push_back(std::move(line));
  }
  void Point(uint32_t window, uint64_t address) {
    const uint64_t low =
        address >> 21 | uint64_t{kTile.x} << hw::kTlbXEndBit | uint64_t{kTile.y} << hw::kTlbYEndBit;
    const uint64_t at = hw::kModelBar0Address + hw::kTlbRegisters + window * hw::kTlbRegisterStride;
    Word(at, static_cast<uint32_t>(low));
    Word(at + 4, static_cast<uint32_t>(low >> 32));
    Word(at + 8, 0);
  }
  void Reset(uint32_t harts) {
    Word(hw::kModelBar0Address + kMachineWindow * hw::kTlbWindow2MBytes +
             (hw::kSoftReset0 & kWindowMask),
         harts);
  }

  const uint32_t trisc_;
  Sequence lines_;
  std::vector<size_t> ends_;
};

std::string WithoutNumber(const std::string& result) { return result.substr(result.find(' ') + 1); }

// The results of program `number`, in parts of kShownBytes.
std::vector<std::string> ShownResults(const std::string& library, TensixUnit unit,
                                      uint32_t number) {
  const TensixProgram program = RandomTensixProgram(unit, number);
  TensixSequence sequence(number / kTensixBatch);
  sequence.Add(program, true);
  const DriverRun run = RunSequence(library, sequence.lines());
  const size_t parts = (program.result_bytes() + kShownBytes - 1) / kShownBytes;
  if (run.results.size() < parts) return {};
  std::vector<std::string> shown;
  for (size_t i = run.results.size() - parts; i < run.results.size(); ++i) {
    shown.push_back(WithoutNumber(run.results[i]));
  }
  return shown;
}

// Of its bytes in hexadecimal, the first one first.
std::string WordOf(const std::string& bytes) {
  std::string word;
  for (size_t i = bytes.size(); i >= 2; i -= 2) word += bytes.substr(i - 2, 2);
  return word;
}

std::string FirstDifference(const std::vector<std::string>& one,
                            const std::vector<std::string>& two) {
  constexpr size_t kDigits = 8;
  for (size_t i = 0; i < std::min(one.size(), two.size()); ++i) {
    for (size_t at = 0; at + kDigits <= one[i].size(); at += kDigits) {
      const std::string left = one[i].substr(at, kDigits), right = two[i].substr(at, kDigits);
      if (left != right) {
        return fmt::format("the word at {:x}: {} / {}",
                           TensixProgram::kResults + i * kShownBytes + at / 2, WordOf(left),
                           WordOf(right));
      }
    }
  }
  return "run alone the program has equal results on both";
}

}  // namespace

std::string RefusalOf(const std::string& library, const TensixProgram& program) {
  TensixSequence sequence(0);
  sequence.Add(program, false);
  const DriverRun run = RunSequence(library, sequence.lines());
  if (run.ended) return "";
  return run.trouble.empty() ? run.text : run.trouble;
}

TensixRun RunTensixPrograms(const std::string& library, TensixUnit unit, uint32_t first,
                            uint32_t count) {
  TensixSequence sequence(first / kTensixBatch);
  for (uint32_t i = 0; i < count; ++i) sequence.Add(RandomTensixProgram(unit, first + i), false);
  const DriverRun run = RunSequence(library, sequence.lines());
  TensixRun result;
  for (const size_t end : sequence.ends()) {
    if (run.results.size() < end) break;
    if (WithoutNumber(run.results[end - 2]) != "0d600000") {
      result.refusal = "the program did not end";
      return result;
    }
    result.results.push_back(WithoutNumber(run.results[end - 1]));
  }
  if (!run.ended) result.refusal = run.trouble.empty() ? run.text : run.trouble;
  return result;
}

std::string CompareTensixRuns(const std::string& first_library, const TensixRun& one,
                              const std::string& second_library, const TensixRun& two,
                              TensixUnit unit, uint32_t first) {
  const size_t common = std::min(one.results.size(), two.results.size());
  size_t at = 0;
  while (at < common && one.results[at] == two.results[at]) ++at;
  if (at == one.results.size() && at == two.results.size() && one.refusal.empty() &&
      two.refusal.empty()) {
    return "";
  }
  const uint32_t number = first + static_cast<uint32_t>(at);
  const std::string difference = at < common
                                     ? FirstDifference(ShownResults(first_library, unit, number),
                                                       ShownResults(second_library, unit, number))
                                     : fmt::format("'{}' / '{}'", one.refusal, two.refusal);
  return fmt::format("{} program {}: {}\n{}", kTensixUnitNames[static_cast<size_t>(unit)], number,
                     difference, RandomTensixProgram(unit, number).ToString());
}

std::vector<uint64_t> TensixHashes(const TensixRun& run) {
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i + kTensixProgramsPerHash <= run.results.size();
       i += kTensixProgramsPerHash) {
    uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
    for (size_t k = i; k < i + kTensixProgramsPerHash; ++k) {
      for (const char c : run.results[k]) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
      }
    }
    hashes.push_back(hash);
  }
  return hashes;
}

}  // namespace ttfd
