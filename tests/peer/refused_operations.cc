#include "tests/peer/refused_operations.h"

#include "tests/peer/refused_tables.h"

namespace ttfd {
namespace {

// Runs `program` on BRISC of the tile.
void RunAlone(const Setting& s, const Rv32Asm& program, SequenceBuilder* b) {
  b->Load(s.self, 0, program);
  b->WriteWord(s.self, hw::kSoftReset0, hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc);
  b->Add("clock 200");
}

}  // namespace

std::vector<std::string> RefusedOperations() {
  std::vector<std::string> names;
  for (const RefusedCommand& command : RefusedCommands()) names.emplace_back(command.name);
  for (const RefusedProgram& program : RefusedPrograms()) names.emplace_back(program.name);
  for (const RefusedAccess& access : RefusedAccesses()) names.emplace_back(access.name);
  return names;
}

void AddRefusedOperation(const std::string& name, Chooser& choose,
                         const std::vector<hw::Coordinate>& stage, SequenceBuilder* builder) {
  const Setting setting = {choose, stage[0], stage[1]};
  const size_t first = builder->sequence().size();
  Rv32Asm program;
  for (const RefusedCommand& command : RefusedCommands()) {
    if (name == command.name) EmitNoc(program, command.make(setting));
  }
  if (name == "noc link broken by another destination") {
    EmitNoc(program, NocWrite(stage[0], kHere, stage[2], kThere, 64));
  }
  for (const RefusedProgram& refused : RefusedPrograms()) {
    if (name == refused.name) refused.emit(setting, &program);
  }
  if (program.words().empty()) {
    for (const RefusedAccess& access : RefusedAccesses()) {
      if (name == access.name) access.add(setting, builder);
    }
  } else {
    program.Halt();
    RunAlone(setting, program, builder);
  }
  builder->ReadWord(stage[0], kHere);
  builder->Tag(first, "refuse " + name);
}

void AddRefusedOperation(Chooser& choose, const std::vector<hw::Coordinate>& stage,
                         SequenceBuilder* builder) {
  static const std::vector<std::string> names = RefusedOperations();
  AddRefusedOperation(choose.Pick(names), choose, stage, builder);
}

}  // namespace ttfd
