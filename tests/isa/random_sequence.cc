// What sequences are made of and how items are drawn.
#include "tests/isa/random_sequence.h"

#include <cstring>
#include <iterator>

#include "runtime/hw/tensix.h"
#include "tests/isa/instruction_rows.h"
#include "tests/support/random.h"

namespace ttfd::testing {
namespace {

constexpr uint32_t kLoad = 0x03, kFence = 0x0F, kImmediate = 0x13, kAuipc = 0x17, kStore = 0x23,
                   kAtomic = 0x2F, kRegister = 0x33, kLui = 0x37, kBranch = 0x63, kSystem = 0x73;
constexpr uint32_t kMaxDepth = 2;  // of loops, branches and calls in each other

// A process has no CSR 0x7C0 and is ended by ebreak; the cores refuse LR/SC, fence.i and unusual fences.
bool IsShared(const InstructionRow& row) {
  for (const char* const name : {"Lr", "Sc", "FenceOther", "FenceI"}) {
    if (std::strcmp(row.name, name) == 0) return false;
  }
  return (row.match & 0x7F) != kSystem;
}

std::vector<InstructionRow> RowsOf(std::initializer_list<uint32_t> opcodes) {
  std::vector<InstructionRow> rows;
  for (const InstructionRow& row : kInstructionRows) {
    for (const uint32_t opcode : opcodes) {
      if ((row.match & 0x7F) == opcode && IsShared(row)) rows.push_back(row);
    }
  }
  return rows;
}

std::vector<std::string> Names(bool shared) {
  std::vector<std::string> names;
  for (const InstructionRow& row : kInstructionRows) {
    if (IsShared(row) == shared) names.emplace_back(row.name);
  }
  return names;
}

uint32_t RandomValue(Random& random) {
  constexpr uint32_t kCorners[] = {0,          1,          2,          3,          31,
                                   32,         33,         0x7F,       0x80,       0xFF,
                                   0x7FFF,     0x8000,     0xFFFF,     0x10000,    0x7FFFFFFF,
                                   0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFF8000};
  switch (random() % 4) {
    case 0:
    case 1:
      return kCorners[random() % std::size(kCorners)];
    case 2:
      return 1u << random() % 32;
    default:
      return random();
  }
}

class Sequence {
 public:
  Sequence(const SequenceSpec& spec, uint32_t block, Rv32Asm& code)
      : spec_(spec), block_(block), code_(code), random_(spec.seed) {
    base_ = 1 + random_() % 31;
    reserved_ = 1u << base_;
  }

  void Emit() {
    Begin();
    for (uint32_t i = 0; i < spec_.items; ++i) Item(0);
    End();
  }

 private:
  const InstructionRow& Pick(const std::vector<InstructionRow>& rows) {
    return rows[random_() % rows.size()];
  }
  uint32_t Any() { return random_() % 32; }
  // A register that may be written.
  uint32_t Target() {
    for (;;) {
      const uint32_t reg = Any();
      if ((reserved_ >> reg & 1) == 0) return reg;
    }
  }
  // The same, to hold something.
  uint32_t Holder() {
    for (;;) {
      const uint32_t reg = Target();
      if (reg != 0) return reg;
    }
  }

  void Begin() {
    code_.Li(base_, block_);
    const uint32_t local = Scratch();
    code_.Lui(local, hw::kLocalRamAddress);
    for (uint32_t i = 0; i < kBlockLocalWords; ++i) {
      code_.Lw(local + 1, base_, BlockOffset(kBlockLocal + i));
      code_.Sw(local + 1, local, static_cast<int32_t>(4 * i));
    }
    for (uint32_t reg = 1; reg < 32; ++reg) {
      if (reg != base_) code_.Lw(reg, base_, BlockOffset(kBlockRegisters + reg));
    }
  }

  void End() {
    for (uint32_t reg = 0; reg < 32; ++reg) {
      code_.Sw(reg, base_, BlockOffset(kBlockRegisters + reg));
    }
    const uint32_t local = Scratch();
    code_.Lui(local, hw::kLocalRamAddress);
    for (uint32_t i = 0; i < kBlockLocalWords; ++i) {
      code_.Lw(local + 1, local, static_cast<int32_t>(4 * i));
      code_.Sw(local + 1, base_, BlockOffset(kBlockLocal + i));
    }
  }

  // The first of two registers that are free while the sequence has not begun or is over.
  uint32_t Scratch() const { return base_ <= 2 ? 3 : 1; }

  static int32_t BlockOffset(uint32_t word) { return static_cast<int32_t>(4 * word); }

  void Item(uint32_t depth) {
    const uint32_t pick = random_() % 100;
    if (pick < 50) return Compute();
    if (pick < 58) return Constant();
    if (pick < 68) return Load();
    if (pick < 78) return Store();
    if (pick < 83) return Atomic();
    if (pick < 85) return Fence();
    if (depth == kMaxDepth) return Compute();
    if (pick < 91) return Branch(depth);
    if (pick < 93) return Jump(depth);
    if (pick < 95) return JumpByRegister(depth);
    if (pick < 97) return Call(depth);
    return Loop(depth);
  }

  void Items(uint32_t depth) {
    for (uint32_t count = 1 + random_() % 3; count != 0; --count) Item(depth + 1);
  }

  void Compute() {
    static const std::vector<InstructionRow> rows = RowsOf({kImmediate, kRegister, kLui, kAuipc});
    const InstructionRow& row = Pick(rows);
    uint32_t rs1 = Any();
    const uint32_t rs2 = random_() % 8 == 0 ? rs1 : Any();
    uint32_t rd = Target();
    if (random_() % 8 == 0) rs1 = rd;
    uint32_t fields = random_();
    if ((row.match & 0x7F) == kImmediate && random_() % 3 == 0) {
      constexpr uint32_t kImmediates[] = {0, 1, 0xFFF, 0x7FF, 0x800};
      fields = kImmediates[random_() % std::size(kImmediates)] << 20;
    } else if ((row.match & 0x7F) == kRegister) {
      fields = rs2 << 20;
    }
    if (const uint32_t opcode = row.match & 0x7F; opcode == kImmediate || opcode == kRegister) {
      fields = (fields & 0xFFF00000) | rs1 << 15;
    }
    fields = (fields & ~0xFFFu) | rd << 7;
    code_.Word(row.match | (fields & ~row.mask));
  }

  // One draw a statement, here and below: in which order arguments are evaluated is up to the compiler, and the
  // program of a seed is to be the same for all.
  void Constant() {
    const uint32_t value = RandomValue(random_);
    code_.Li(Holder(), value);
  }

  // Puts an address of the block's data or of local RAM for `bytes` bytes into a register, which is returned;
  // `offset` is what the instruction has to add.
  uint32_t Address(uint32_t bytes, int32_t* offset) {
    const uint32_t aligned = ~(bytes - 1);
    const auto data = static_cast<int32_t>(4 * kBlockData);
    const uint32_t place = random_() % (4 * kBlockDataWords) & aligned;
    switch (random_() % 4) {
      case 0:  // the register that always holds the block's address
        *offset = data + static_cast<int32_t>(place);
        return base_;
      case 1: {  // from below or above
        const uint32_t reg = Holder();
        const auto away = static_cast<int32_t>((random_() & 0x3FC)) - 0x200;
        code_.Addi(reg, base_, away);
        *offset = data + static_cast<int32_t>(place) - away;
        return reg;
      }
      case 2: {  // wherever the value of another register leads
        const uint32_t reg = Holder();
        code_.Andi(reg, Any(), static_cast<int32_t>((4 * kBlockDataWords - 1) & aligned));
        code_.Add(reg, reg, base_);
        *offset = data;
        return reg;
      }
      default: {
        const uint32_t reg = Holder();
        code_.Lui(reg, hw::kLocalRamAddress);
        *offset = static_cast<int32_t>(place % (4 * kBlockLocalWords));
        return reg;
      }
    }
  }

  void Load() {
    static const std::vector<InstructionRow> rows = RowsOf({kLoad});
    const InstructionRow& row = Pick(rows);
    int32_t offset = 0;
    const uint32_t address = Address(1u << (row.match >> 12 & 3), &offset);
    code_.I(row.match, Target(), address, offset);
  }

  void Store() {
    static const std::vector<InstructionRow> rows = RowsOf({kStore});
    const InstructionRow& row = Pick(rows);
    int32_t offset = 0;
    const uint32_t address = Address(1u << (row.match >> 12 & 3), &offset);
    code_.S(row.match, address, Any(), offset);
  }

  void Atomic() {
    static const std::vector<InstructionRow> rows = RowsOf({kAtomic});
    const InstructionRow& row = Pick(rows);
    const uint32_t address = Holder();
    const uint32_t order = random_() & 0x06000000;  // aq, rl
    const auto data = static_cast<int32_t>(4 * kBlockData);
    if (random_() % 2 == 0) {
      code_.Andi(address, Any(), 4 * kBlockDataWords - 4);
      code_.Add(address, address, base_);
      code_.Addi(address, address, data);
    } else {
      code_.Addi(address, base_, data + static_cast<int32_t>(random_() % kBlockDataWords * 4));
    }
    const uint32_t rs2 = Any();
    code_.R(row.match | order, Target(), address, rs2);
  }

  void Fence() {
    static const std::vector<InstructionRow> rows = RowsOf({kFence});
    code_.Word(Pick(rows).match);
  }

  // Any comparison, taken or not, over some items.
  void Branch(uint32_t depth) {
    static const std::vector<InstructionRow> rows = RowsOf({kBranch});
    const InstructionRow& row = Pick(rows);
    const uint32_t rs1 = Any();
    const uint32_t rs2 = random_() % 5 == 0 ? rs1 : Any();
    const Rv32Asm::Label at = code_.Here();
    code_.B(row.match, rs1, rs2, at);
    Items(depth);
    code_.BindBranch(at, code_.Here());
  }

  void Jump(uint32_t depth) {
    const uint32_t rd = Target();
    const Rv32Asm::Label at = code_.Here();
    code_.Jal(rd, at);
    Items(depth);
    code_.BindJump(at, code_.Here());
  }

  // Over a few single instructions, whose number is known when the offset is written. Bit 0 of the target is ignored.
  void JumpByRegister(uint32_t /*depth*/) {
    const uint32_t reg = Holder();
    const uint32_t rd = random_() % 3 == 0 ? reg : Target();
    const uint32_t over = random_() % 4;
    const auto offset = static_cast<int32_t>(8 + 4 * over + (random_() & 1));
    code_.Auipc(reg, 0);
    code_.Jalr(rd, reg, offset);
    for (uint32_t i = 0; i < over; ++i) Compute();
  }

  void Call(uint32_t depth) {
    const uint32_t link = Holder();
    const uint32_t saved = reserved_;
    reserved_ |= 1u << link;
    const Rv32Asm::Label call = code_.Here();
    code_.Jal(link, call);
    const Rv32Asm::Label over = code_.Here();
    code_.Jal(0, over);
    code_.BindJump(call, code_.Here());
    Items(depth);
    code_.Jalr(0, link, 0);
    code_.BindJump(over, code_.Here());
    reserved_ = saved;
  }

  // Two to six times; every branch instruction may be the one that goes back.
  void Loop(uint32_t depth) {
    const uint32_t count = Holder();
    const uint32_t saved = reserved_;
    reserved_ |= 1u << count;
    code_.Addi(count, 0, static_cast<int32_t>(2 + random_() % 5));
    const Rv32Asm::Label back = code_.Here();
    Items(depth);
    code_.Addi(count, count, -1);
    const uint32_t other = Holder();
    switch (random_() % 6) {
      case 0:
        code_.Bne(count, 0, back);
        break;
      case 1:
        code_.Blt(0, count, back);
        break;
      case 2:
        code_.Bltu(0, count, back);
        break;
      case 3:
        code_.I(0x3013, other, count, 1);  // sltiu
        code_.Beq(other, 0, back);
        break;
      case 4:
        code_.Addi(other, 0, 1);
        code_.B(0x5063, count, other, back);  // bge
        break;
      default:
        code_.Addi(other, 0, 1);
        code_.B(0x7063, count, other, back);  // bgeu
        break;
    }
    reserved_ = saved;
  }

  const SequenceSpec spec_;
  const uint32_t block_;
  Rv32Asm& code_;
  Random random_;
  uint32_t base_ = 0;      // holds the address of the block
  uint32_t reserved_ = 0;  // registers that must not be written, one bit each
};

}  // namespace

SequenceBlock InitialBlock(const SequenceSpec& spec) {
  SequenceBlock block;
  Random random(~spec.seed);
  for (uint32_t& word : block) word = RandomValue(random);
  return block;
}

void EmitSequence(const SequenceSpec& spec, uint32_t block, Rv32Asm* code) {
  Sequence(spec, block, *code).Emit();
}

const std::vector<std::string>& RandomInstructions() {
  static const std::vector<std::string> names = Names(true);
  return names;
}

const std::vector<std::string>& OtherInstructions() {
  static const std::vector<std::string> names = Names(false);
  return names;
}

}  // namespace ttfd::testing
