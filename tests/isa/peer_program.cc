// An ELF file of two segments for one machine, L1 contents for the other.
#include "tests/isa/peer_program.h"

#include <elf.h>

#include <algorithm>
#include <chrono>

#include "runtime/device/sim/sim_device.h"
#include "runtime/hw/tensix.h"
#include "tests/support/run_command.h"

namespace ttfd::testing {
namespace {

constexpr const char* kQemu = "qemu-riscv32";
constexpr const char* kProcessor = "rv32,zba=true,zbb=true";
constexpr std::chrono::seconds kQemuTimeout(60);
constexpr uint64_t kModelClocks = uint64_t{1} << 28;
constexpr hw::Coordinate kTile = {1, 2};
constexpr uint32_t kWrite = 64, kExit = 93;  // Linux system calls
constexpr uint32_t kEcall = 0x00000073;

// The program where it belongs, and local RAM.
std::vector<std::byte> ElfFile(const PeerProgram& program) {
  Elf32_Ehdr header = {};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_RISCV;
  header.e_version = EV_CURRENT;
  header.e_entry = program.entry;
  header.e_phoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf32_Phdr);
  header.e_phnum = 2;
  constexpr uint32_t kFileOffset = 0x1000;
  Elf32_Phdr segments[2] = {};
  for (Elf32_Phdr& segment : segments) {
    segment.p_type = PT_LOAD;
    segment.p_flags = PF_R | PF_W | PF_X;
    segment.p_align = 0x1000;
  }
  segments[0].p_offset = kFileOffset;
  segments[0].p_vaddr = segments[0].p_paddr = kPeerBase;
  segments[0].p_filesz = segments[0].p_memsz = static_cast<uint32_t>(program.for_qemu.size());
  segments[1].p_vaddr = segments[1].p_paddr = hw::kLocalRamAddress;
  segments[1].p_memsz = hw::kLocalRamBytesBrisc;

  std::vector<std::byte> file(kFileOffset);
  StoreAt(file.data(), header);
  StoreAt(file.data() + sizeof(header), segments);
  file.insert(file.end(), program.for_qemu.begin(), program.for_qemu.end());
  return file;
}

}  // namespace

std::string QemuMissing() {
  return HaveCommand(kQemu) ? "" : "qemu-riscv32 (Debian's qemu-user) is not installed";
}

StatusOr<PeerResult> RunUnderQemu(const PeerProgram& program) {
  ASSIGN_OR_RETURN(const MemoryFile file, MemoryFile::Create(ElfFile(program)));
  ASSIGN_OR_RETURN(const CommandResult result,
                   RunCommand({kQemu, "-cpu", kProcessor, file.Path()}, kQemuTimeout));
  if (result.exit_code != 0 || result.out.size() != program.result_bytes) {
    return Internal("{} ended with {} and {} bytes of {}: {}", kQemu, result.exit_code,
                    result.out.size(), program.result_bytes, result.errors);
  }
  const ByteSpan bytes = std::as_bytes(std::span(result.out));
  return PeerResult{{bytes.begin(), bytes.end()}};
}

StatusOr<PeerResult> RunOnModel(const PeerProgram& program, const std::string& options,
                                sim::Inspector* inspector) {
  ASSIGN_OR_RETURN(const SimOptions parsed, ParseSimOptions(options));
  sim::Chip* chip = nullptr;
  ASSIGN_OR_RETURN(const std::unique_ptr<Device> device, OpenSimDevice(parsed, &chip));
  if (inspector != nullptr) chip->Attach(inspector);
  ASSIGN_OR_RETURN(const std::unique_ptr<Window> window, device->OpenWindow(UnicastTarget(kTile)));
  RETURN_IF_ERROR(window->Write(kPeerBase, program.for_model));
  RETURN_IF_ERROR(window->Write(0, BytesOf(hw::JumpToFirmware(program.entry))));
  RETURN_IF_ERROR(
      window->Write(hw::kSoftReset0, BytesOf(hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc)));
  ASSIGN_OR_RETURN(const AdvanceResult progress, device->Advance(kModelClocks));
  if (!progress.quiescent) return Internal("the model did not come to rest");
  PeerResult result{std::vector<std::byte>(program.result_bytes), chip->retired_instructions()};
  RETURN_IF_ERROR(window->Read(program.result, result.bytes));
  return result;
}

void EmitQemuEnd(uint32_t result, uint32_t bytes, Rv32Asm* code) {
  Rv32Asm& a = *code;
  a.Li(kA1, result);
  a.Li(kA2, bytes);
  const Rv32Asm::Label more = a.Here();
  a.Li(kA7, kWrite);
  a.Li(kA0, 1);
  a.Word(kEcall);
  const Rv32Asm::Label failed = a.Here();
  a.Blt(kA0, kZero, failed);
  a.Add(kA1, kA1, kA0);
  a.Sub(kA2, kA2, kA0);
  a.Bne(kA2, kZero, more);
  a.Li(kA0, 0);
  a.BindBranch(failed, a.Here());
  a.Li(kA7, kExit);
  a.Word(kEcall);
}

void EmitModelEnd(Rv32Asm* code) { code->Halt(); }

}  // namespace ttfd::testing
