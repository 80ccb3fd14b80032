// The table of instructions, for reading.
#include "runtime/sim/tensix/disassemble.h"

#include <fmt/format.h>

#include <array>

namespace ttfd::sim::tensix {
namespace {

constexpr size_t kMaxFields = 16;

struct NamedField {
  const char* name = nullptr;
  hw::tensix::Field field = {};
};

struct Row {
  const char* name = nullptr;
  std::array<NamedField, kMaxFields> fields{};
};

constexpr auto kRows = [] {
  std::array<Row, 256> rows{};
#define FIELD(name, low, bits) NamedField{#name, {low, bits}},
#define TENSIX(name, opcode, unit, ...) rows[opcode] = {#name, {__VA_ARGS__}};
#include "runtime/hw/tensix_instructions.inc"
#undef TENSIX
#undef FIELD
  return rows;
}();

}  // namespace

std::string Disassemble(uint32_t instruction) {
  const Row& row = kRows[hw::tensix::OpcodeOf(instruction)];
  if (row.name == nullptr) return fmt::format(".ttinsn {:#010x}", instruction);
  std::string text = row.name;
  for (const NamedField& at : row.fields) {
    if (at.name == nullptr || at.field.Of(instruction) == 0) continue;
    text += fmt::format(" {}={}", at.name, at.field.Of(instruction));
  }
  return text;
}

}  // namespace ttfd::sim::tensix
