// Many random sequences in one program, and what to say when two machines disagree about one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "tests/isa/peer_program.h"
#include "tests/isa/random_sequence.h"

namespace ttfd::testing {

class RandomProgram {
 public:
  explicit RandomProgram(std::vector<SequenceSpec> sequences);

  const PeerProgram& program() const { return program_; }
  const std::vector<SequenceSpec>& sequences() const { return sequences_; }
  uint32_t instructions() const { return instructions_; }  // in the code of the sequences

  // A sequence's code in assembler language.
  std::string Disassembly(size_t sequence) const;

 private:
  std::vector<SequenceSpec> sequences_;
  std::vector<uint32_t> code_;  // where each sequence begins, and where the last one ends
  PeerProgram program_;
  uint32_t instructions_ = 0;
};

struct Difference {
  size_t sequence = 0;
  std::string what;  // "x7", "data word 3", "word 2 of local RAM"
  uint32_t expected = 0;
  uint32_t found = 0;
};

// The first word that is not the same in the results of two runs.
std::optional<Difference> Compare(ByteSpan expected, ByteSpan found);

// Runs a program: the peer, or the model in one of its modes.
using Runner = std::function<StatusOr<PeerResult>(const PeerProgram&)>;

// Runs the sequences on both. OK: they agree. The message of an error names the seed, the first difference, or why the
// model refused the program, and the shortest beginning of that sequence that shows it, disassembled.
Status RunBoth(const std::vector<SequenceSpec>& sequences, const Runner& peer, const Runner& model);

}  // namespace ttfd::testing
