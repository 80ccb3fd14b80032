#include "tests/support/firmware_bench.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/abi/kernel_image.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"
#include "runtime/base/bits.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"

namespace ttfd::testing {
namespace {

constexpr uint32_t kNonce = 0x5EED;
constexpr uint32_t kAllButBrisc = hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc;
// Where the device does not tell that it rests: how long waiting harts say nothing new before they are
// taken to wait for the host, and how long ones at work.
constexpr uint64_t kWaitingClocks = 4'000;
constexpr uint64_t kSilentClocks = 2'000'000;
constexpr uint64_t kPatience = 50'000'000;  // clocks; the longest test takes a fraction of this

uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

bool IsTensixColumn(uint32_t x) {
  return std::find(std::begin(hw::kTensixColumnX), std::end(hw::kTensixColumnX), x) !=
         std::end(hw::kTensixColumnX);
}

std::vector<hw::Coordinate> Workers(const BenchOptions& options) {
  std::vector<hw::Coordinate> tiles;
  for (uint32_t y = options.worker_start.y; y <= options.worker_end.y; ++y) {
    for (uint32_t x = options.worker_start.x; x <= options.worker_end.x; ++x) {
      if (IsTensixColumn(x)) tiles.push_back({x, y});
    }
  }
  return tiles;
}

}  // namespace

BenchOptions TinyRings() {
  BenchOptions options;
  options.issue_ring_bytes = 4096;
  options.fetch_queue_entries = 4;
  options.command_ring_bytes = 4096;
  options.scratch_bytes = 256;
  options.ringbuffer_bytes = 512;
  options.dispatch_ring_pages = 4;
  options.dispatch_s_ring_pages = 4;
  options.completion_ring_pages = 2;
  return options;
}

StatusOr<std::unique_ptr<FirmwareBench>> FirmwareBench::Create(const BenchOptions& options) {
  std::unique_ptr<FirmwareBench> bench(new FirmwareBench(options));
  RETURN_IF_ERROR(bench->Open());
  return bench;
}

Status FirmwareBench::Open() {
  ASSIGN_OR_RETURN(device_, OpenTestDevice(options_.chip, &chip_));
  const std::vector<hw::Coordinate> workers = Workers(options_);
  abi::BootBlock block{};
  block.magic = abi::kMagic;
  block.protocol_version = abi::kProtocolVersion + options_.version_skew;
  block.boot_nonce = kNonce;
  block.pcie_xy = Xy(hw::kPcieTranslated);
  block.worker_start_xy = Xy(options_.worker_start);
  block.worker_end_xy = Xy(options_.worker_end);
  block.worker_count = static_cast<uint32_t>(workers.size());
  block.first_worker_stream = abi::kFirstWorkerStream;
  for (uint32_t queue = 0; queue < options_.queues; ++queue) {
    ASSIGN_OR_RETURN(queues_.emplace_back(), BenchQueue::Create(*device_, options_, queue, block));
  }

  for (uint32_t noc = 0; noc < 2; ++noc) {
    const std::vector<uint32_t>& ports = device_->info().dram_port_xy[noc];
    banks_.dram_banks = static_cast<uint32_t>(ports.size());
    for (size_t bank = 0; bank < ports.size(); ++bank) {
      banks_.dram_xy[noc][bank] = static_cast<uint16_t>(ports[bank]);
    }
  }
  banks_.l1_banks = block.worker_count;
  for (size_t i = 0; i < workers.size(); ++i) {
    banks_.l1_xy[i] = static_cast<uint16_t>(Xy(workers[i]));
  }
  for (const hw::Coordinate at : workers) {
    RETURN_IF_ERROR(LoadTile(at, abi::kRoleWorker, queues_[0]->block()));
  }
  for (const auto& queue : queues_) {
    RETURN_IF_ERROR(LoadTile(queue->dispatch_tile(), abi::kRoleDispatch, queue->block()));
    RETURN_IF_ERROR(LoadTile(queue->prefetch_tile(), abi::kRolePrefetch, queue->block()));
  }
  return OkStatus();
}

Status FirmwareBench::LoadTile(hw::Coordinate at, abi::Role role, const abi::BootBlock& of_queue) {
  Window& window = tile(at);
  for (const FirmwareImage& image : ImagesOfRole(options_.images, role)) {
    RETURN_IF_ERROR(window.Write(image.load_address, image.bytes));
  }
  RETURN_IF_ERROR(WriteWord(window, 0, hw::JumpToFirmware(abi::kFirmwareAddress[hw::kBrisc])));
  abi::BootBlock block = of_queue;
  block.role = role;
  block.own_xy = Xy(at);
  RETURN_IF_ERROR(window.Write(abi::kBootBlockAddress, BytesOf(block)));
  RETURN_IF_ERROR(window.Write(abi::kBankTableAddress, BytesOf(banks_)));
  const uint32_t* const pc = abi::kFirmwareAddress;
  for (uint32_t i = 0; i < 3; ++i) {
    RETURN_IF_ERROR(WriteWord(window, hw::kTriscResetPc + 4 * i, pc[hw::kTrisc0 + i]));
  }
  RETURN_IF_ERROR(WriteWord(window, hw::kTriscResetPcOverride, 7));
  RETURN_IF_ERROR(WriteWord(window, hw::kNcriscResetPc, pc[hw::kNcrisc]));
  return WriteWord(window, hw::kNcriscResetPcOverride, 1);
}

Status FirmwareBench::Release(hw::Coordinate at, uint32_t soft_reset) {
  RETURN_IF_ERROR(WriteWord(tile(at), hw::kSoftReset0, soft_reset));
  return Run();
}

Status FirmwareBench::AwaitReady(hw::Coordinate at, std::span<const uint32_t> harts) {
  for (const uint32_t hart : harts) {
    const abi::HartStatus report = status(at, hart);
    if (report.state != abi::kHartReady || report.boot_nonce != kNonce) {
      return Internal("hart {} of tile ({},{}) reports state {}, nonce {:#x}", hart, at.x, at.y,
                      report.state, report.boot_nonce);
    }
  }
  return OkStatus();
}

Status FirmwareBench::Boot() {
  const uint32_t brisc[] = {hw::kBrisc};
  const uint32_t subordinates[] = {hw::kNcrisc, hw::kTrisc0, hw::kTrisc1, hw::kTrisc2};
  for (const hw::Coordinate at : Workers(options_)) {
    RETURN_IF_ERROR(Release(at, kAllButBrisc));
    RETURN_IF_ERROR(AwaitReady(at, brisc));
    RETURN_IF_ERROR(Release(at, 0));
    RETURN_IF_ERROR(AwaitReady(at, subordinates));
  }
  for (const auto& queue : queues_) RETURN_IF_ERROR(BootQueue(*queue));
  return OkStatus();
}

Status FirmwareBench::BootQueue(const BenchQueue& queue) {
  const uint32_t brisc[] = {hw::kBrisc};
  const uint32_t ncrisc[] = {hw::kNcrisc};
  RETURN_IF_ERROR(Release(queue.dispatch_tile(), kAllButBrisc));
  RETURN_IF_ERROR(AwaitReady(queue.dispatch_tile(), brisc));
  RETURN_IF_ERROR(Release(queue.dispatch_tile(), kAllButBrisc & ~hw::kSoftResetNcrisc));
  RETURN_IF_ERROR(AwaitReady(queue.dispatch_tile(), ncrisc));
  RETURN_IF_ERROR(Release(queue.prefetch_tile(), kAllButBrisc));
  return AwaitReady(queue.prefetch_tile(), brisc);
}

// Takes the fingerprint of what every tile in use says about itself. True: a hart is at work.
StatusOr<bool> FirmwareBench::LookAround() {
  static_assert(abi::kHartStatusAddress < abi::kControlBlockAddress);
  std::vector<std::byte> bytes(abi::kControlBlockAddress + sizeof(abi::ControlBlock) -
                               abi::kHartStatusAddress);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  fingerprint_ = 0;
  bool works = false;
  for (const auto& [at, window] : windows_) {
    if (!IsTensixColumn(at.first)) continue;
    RETURN_IF_ERROR(window->Read(abi::kHartStatusAddress, bytes));
    fingerprint_ = std::rotl(fingerprint_, 7) ^ std::hash<std::string_view>()(text);
    for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
      const auto status = LoadAt<abi::HartStatus>(bytes.data() + hart * abi::kHartStatusBytes);
      works |= status.state == abi::kHartReady &&
               (status.waypoint == abi::kWaypointRun || status.waypoint == abi::kWaypointKernel);
    }
  }
  return works;
}

StatusOr<bool> FirmwareBench::AtRest(const AdvanceResult& advanced) {
  if (device_->info().reports_quiescence) return advanced.quiescent;
  const uint64_t before = fingerprint_;
  ASSIGN_OR_RETURN(const bool works, LookAround());
  unchanged_for_ = fingerprint_ == before ? unchanged_for_ + advanced.clocks : 0;
  if (unchanged_for_ < (works ? kSilentClocks : kWaitingClocks)) return false;
  unchanged_for_ = 0;
  return true;
}

Status FirmwareBench::Run() {
  for (uint64_t spent = 0; spent < kPatience;) {
    ASSIGN_OR_RETURN(const AdvanceResult result, device_->Advance(2'000));
    ASSIGN_OR_RETURN(const bool rests, AtRest(result));
    if (rests) return OkStatus();
    spent += result.clocks;
  }
  return Internal("the device does not come to rest");
}

Status FirmwareBench::Send(const EntryBuilder& entry, bool stall_after, uint32_t queue) {
  return queues_[queue]->Send(entry.bytes(), stall_after);
}

Status FirmwareBench::SendAndRun(const EntryBuilder& entry, bool stall_after, uint32_t queue) {
  RETURN_IF_ERROR(Send(entry, stall_after, queue));
  return Run();
}

StatusOr<std::vector<std::byte>> FirmwareBench::TakeCompletionPage(uint32_t queue) {
  return queues_[queue]->TakeCompletionPage();
}

abi::CompletionPointer FirmwareBench::completion_pointer(uint32_t queue) {
  return queues_[queue]->completion_pointer();
}

uint32_t FirmwareBench::completion_pages_taken(uint32_t queue) const {
  return queues_[queue]->completion_pages_taken();
}

Window& FirmwareBench::tile(hw::Coordinate at) {
  std::unique_ptr<Window>& window = windows_[{at.x, at.y}];
  if (window == nullptr) window = device_->OpenWindow(UnicastTarget(at)).value();
  return *window;
}

uint32_t FirmwareBench::Word(hw::Coordinate at, uint64_t address) {
  return ReadWord(tile(at), address).value();
}

void FirmwareBench::SetWord(hw::Coordinate at, uint64_t address, uint32_t value) {
  SetBytes(at, address, BytesOf(value));
}

std::vector<std::byte> FirmwareBench::Bytes(hw::Coordinate at, uint64_t address, size_t size) {
  std::vector<std::byte> bytes(size);
  const Status read = tile(at).Read(address, bytes);
  if (!read.ok()) bytes.clear();
  return bytes;
}

void FirmwareBench::SetBytes(hw::Coordinate at, uint64_t address, ByteSpan bytes) {
  const Status written = tile(at).Write(address, bytes);
  if (!written.ok()) std::abort();
  Bytes(at, 0,
        sizeof(uint32_t));  // the bytes have arrived: a read of the same window waits for them
}

abi::HartStatus FirmwareBench::status(hw::Coordinate at, uint32_t hart) {
  abi::HartStatus report{};
  const std::vector<std::byte> bytes =
      Bytes(at, abi::kHartStatusAddress + hart * abi::kHartStatusBytes, sizeof(report));
  if (bytes.size() == sizeof(report)) std::memcpy(&report, bytes.data(), sizeof(report));
  return report;
}

uint32_t FirmwareBench::counter(hw::Coordinate at, size_t offset) {
  return Word(at, abi::kControlBlockAddress + offset);
}

uint64_t FirmwareBench::retired(hw::Coordinate at, uint32_t hart) const {
  return chip_->FindHart(at, hart)->retired;
}

hw::Coordinate FirmwareBench::WorkerTile(uint32_t index) const {
  const uint32_t xy = banks_.l1_xy[index];
  return {hw::NocX(xy), hw::NocY(xy)};
}

void FirmwareBench::SetDramPages(uint32_t base, uint32_t page_size, uint32_t start_page,
                                 ByteSpan bytes) {
  for (uint32_t page = start_page; !bytes.empty(); ++page) {
    const uint32_t xy = banks_.dram_xy[0][page % banks_.dram_banks];
    const ByteSpan piece = bytes.first(std::min<size_t>(page_size, bytes.size()));
    SetBytes({hw::NocX(xy), hw::NocY(xy)}, base + uint64_t{page / banks_.dram_banks} * page_size,
             piece);
    bytes = bytes.subspan(piece.size());
  }
}

std::vector<std::byte> KernelImage(ByteSpan elf) {
  const auto header = LoadAt<Elf32_Ehdr>(elf.data());
  const auto section = [&](std::string_view wanted) {
    const auto names =
        LoadAt<Elf32_Shdr>(elf.data() + header.e_shoff + header.e_shstrndx * sizeof(Elf32_Shdr));
    for (uint32_t i = 0; i < header.e_shnum; ++i) {
      const auto at = LoadAt<Elf32_Shdr>(elf.data() + header.e_shoff + i * sizeof(Elf32_Shdr));
      const char* const name =
          reinterpret_cast<const char*>(elf.data()) + names.sh_offset + at.sh_name;
      if (wanted == name) return at;
    }
    return Elf32_Shdr{};
  };
  const auto segment = LoadAt<Elf32_Phdr>(elf.data() + header.e_phoff);
  const Elf32_Shdr data = section(".data");
  const Elf32_Shdr bss = section(".bss");
  constexpr uint32_t kHeaderBytes = sizeof(abi::KernelImageHeader);
  abi::KernelImageHeader image{};
  image.entry_offset = kHeaderBytes + header.e_entry;
  image.data_offset = kHeaderBytes + data.sh_addr;
  image.data_bytes = data.sh_size;
  image.bss_offset = kHeaderBytes + bss.sh_addr;
  image.bss_bytes = bss.sh_size;
  image.pristine_offset = kHeaderBytes + AlignUp(segment.p_memsz, Elf32_Word{16});
  image.image_bytes = AlignUp(image.pristine_offset + image.data_bytes, 16u);
  std::vector<std::byte> bytes(image.image_bytes);
  std::memcpy(bytes.data(), &image, sizeof(image));
  std::memcpy(bytes.data() + kHeaderBytes, elf.data() + segment.p_offset, segment.p_filesz);
  std::memcpy(bytes.data() + image.pristine_offset, elf.data() + data.sh_offset, image.data_bytes);
  return bytes;
}

}  // namespace ttfd::testing
