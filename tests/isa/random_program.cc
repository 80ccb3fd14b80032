// Lays sequences out in memory, compares results, and narrows a difference down.
#include "tests/isa/random_program.h"

#include <algorithm>

#include "runtime/sim/disassemble.h"

namespace ttfd::testing {
namespace {

constexpr uint32_t kBlockBytes = kBlockWords * 4;

std::string NameOfWord(uint32_t word) {
  if (word < kBlockData) return fmt::format("x{}", word);
  if (word < kBlockLocal) return fmt::format("data word {}", word - kBlockData);
  return fmt::format("word {} of local RAM", word - kBlockLocal);
}

std::string Describe(const Difference& difference) {
  return fmt::format("{} is {:#010x} on the peer and {:#010x} on the model", difference.what,
                     difference.expected, difference.found);
}

// Runs some sequences on both. None: they agree. A model that refuses what the peer executes is a difference whose
// sequence is not known.
struct Finding {
  std::string what;
  std::optional<size_t> sequence;
};
StatusOr<std::optional<Finding>> Find(const std::vector<SequenceSpec>& sequences,
                                      const Runner& peer, const Runner& model) {
  const RandomProgram program(sequences);
  ASSIGN_OR_RETURN(const PeerResult expected, peer(program.program()));
  const StatusOr<PeerResult> found = model(program.program());
  if (!found.ok()) {
    return Finding{std::string(StatusMessage(found.status())), std::nullopt};
  }
  const std::optional<Difference> difference = Compare(expected.bytes, found->bytes);
  if (!difference.has_value()) return std::nullopt;
  return Finding{Describe(*difference), difference->sequence};
}

// Fewest items with which the sequence alone differs still, and what then differs; 0: alone it does not differ at all.
StatusOr<uint32_t> FewestItems(const SequenceSpec& spec, const Runner& peer, const Runner& model,
                               std::string* what) {
  uint32_t good = 0;
  uint32_t bad = 0;
  for (uint32_t items = spec.items; bad == 0 || good + 1 < bad; items = good + (bad - good) / 2) {
    ASSIGN_OR_RETURN(const std::optional<Finding> finding, Find({{spec.seed, items}}, peer, model));
    if (finding.has_value()) {
      bad = items;
      *what = finding->what;
    } else if (items == spec.items) {
      return 0;
    } else {
      good = items;
    }
  }
  return bad;
}

}  // namespace

RandomProgram::RandomProgram(std::vector<SequenceSpec> sequences)
    : sequences_(std::move(sequences)) {
  std::vector<uint32_t> words;
  for (const SequenceSpec& spec : sequences_) {
    const SequenceBlock block = InitialBlock(spec);
    words.insert(words.end(), block.begin(), block.end());
  }
  program_.result = kPeerBase;
  program_.result_bytes = static_cast<uint32_t>(words.size() * 4);
  program_.entry = kPeerBase + program_.result_bytes;
  Rv32Asm code;
  for (uint32_t i = 0; i < sequences_.size(); ++i) {
    code_.push_back(program_.entry + code.Here());
    EmitSequence(sequences_[i], kPeerBase + i * kBlockBytes, &code);
  }
  code_.push_back(program_.entry + code.Here());
  instructions_ = code.Here() / 4;
  const auto finish = [&](const std::function<void(Rv32Asm*)>& end) {
    Rv32Asm ended = code;
    end(&ended);
    std::vector<uint32_t> all = words;
    all.insert(all.end(), ended.words().begin(), ended.words().end());
    const ByteSpan bytes = std::as_bytes(std::span(all));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  program_.for_qemu =
      finish([&](Rv32Asm* end) { EmitQemuEnd(program_.result, program_.result_bytes, end); });
  program_.for_model = finish(EmitModelEnd);
}

std::string RandomProgram::Disassembly(size_t sequence) const {
  std::string text;
  for (uint32_t pc = code_[sequence]; pc < code_[sequence + 1]; pc += 4) {
    const auto word = LoadAt<uint32_t>(program_.for_model.data() + pc - kPeerBase);
    text += fmt::format("  {:6x}  {:08x}  {}\n", pc, word, sim::Disassemble(word, pc));
  }
  return text;
}

std::optional<Difference> Compare(ByteSpan expected, ByteSpan found) {
  const size_t words = std::min(expected.size(), found.size()) / 4;
  for (size_t i = 0; i < words; ++i) {
    const auto a = LoadAt<uint32_t>(expected.data() + 4 * i);
    const auto b = LoadAt<uint32_t>(found.data() + 4 * i);
    if (a != b)
      return Difference{i / kBlockWords, NameOfWord(static_cast<uint32_t>(i % kBlockWords)), a, b};
  }
  if (expected.size() != found.size()) {
    return Difference{words / kBlockWords, "the length of the result",
                      static_cast<uint32_t>(expected.size()), static_cast<uint32_t>(found.size())};
  }
  return std::nullopt;
}

Status RunBoth(const std::vector<SequenceSpec>& sequences, const Runner& peer,
               const Runner& model) {
  ASSIGN_OR_RETURN(const std::optional<Finding> finding, Find(sequences, peer, model));
  if (!finding.has_value()) return OkStatus();
  std::vector<SequenceSpec> suspects = sequences;
  if (finding->sequence.has_value()) suspects = {sequences[*finding->sequence]};
  for (const SequenceSpec& spec : suspects) {
    std::string shortest;
    ASSIGN_OR_RETURN(const uint32_t items, FewestItems(spec, peer, model, &shortest));
    if (items == 0) continue;
    return Internal("seed {}: {}\nits first {} items are enough: {}\n{}", spec.seed, finding->what,
                    items, shortest, RandomProgram({{spec.seed, items}}).Disassembly(0));
  }
  return Internal("seeds {} to {}: {}; no sequence alone differs", suspects.front().seed,
                  suspects.back().seed, finding->what);
}

}  // namespace ttfd::testing
