// Session: connecting, and what is created on the card.
#include "ttfd/session.h"

#include <openssl/sha.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "client/cpp/src/convert.h"
#include "client/cpp/src/options.h"
#include "client/cpp/src/session_core.h"
#include "client/cpp/src/session_slot.h"

namespace ttfd::client {
namespace {

constexpr size_t kCreateBytes = 256;   // of a creating command without its lists
constexpr size_t kPerRangeBytes = 32;  // of a core range or a use of something

using Sha256 = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Sha256 HashOf(std::span<const std::byte> bytes) {
  Sha256 digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

size_t EncodedBytes(const ProgramBuilder& builder) {
  size_t bytes = kCreateBytes;
  const auto add = [&bytes](const auto& uses) {
    for (const auto& use : uses) {
      bytes += kPerRangeBytes * (2 + use.cores.size());
    }
  };
  add(builder.kernels());
  add(builder.circular_buffers());
  add(builder.semaphores());
  return bytes;
}

template <typename Resource>
Result<Resource> Owning(const std::shared_ptr<SessionCore>& core, uint64_t handle, Owned kind,
                        const Status& status) {
  if (!status.ok()) {
    return status;
  }
  core->Own(handle, kind);
  return Resource(core, handle);
}

void FillLoadKernel(v1::LoadKernel* load, uint64_t handle, const Sha256& digest, uint64_t size,
                    const std::string& name) {
  load->set_handle(handle);
  load->set_sha256(digest.data(), digest.size());
  load->set_size(size);
  load->set_name(name);
}

}  // namespace

Session::Session(std::shared_ptr<SessionSlot> slot) : slot_(std::move(slot)) {}

Session::~Session() {
  if (slot_ != nullptr) {
    slot_->core()->Shutdown();
  }
}

Session& Session::operator=(Session&& other) noexcept {
  if (this != &other) {
    if (slot_ != nullptr) {
      slot_->core()->Shutdown();
    }
    slot_ = std::move(other.slot_);
  }
  return *this;
}

Result<Session> Session::Connect(ConnectOptions options) {
  options.address = ResolveAddress(options.address);
  Result<std::shared_ptr<SessionSlot>> slot = SessionSlot::Open(options);
  return slot.ok() ? Result<Session>(Session(*std::move(slot))) : Result<Session>(slot.status());
}

Status Session::Close() { return slot_->core()->Close(); }

uint64_t Session::id() const { return slot_->core()->session_id(); }
const std::string& Session::daemon_version() const { return slot_->core()->daemon_version(); }
const std::vector<DeviceInfo>& Session::devices() const { return slot_->core()->devices(); }
const DeviceInfo& Session::device() const { return slot_->core()->devices().front(); }
const Limits& Session::limits() const { return slot_->core()->limits(); }

std::string Session::lease_token() const { return slot_->core()->lease_token(); }

Result<Buffer> Session::AllocateDram(uint64_t size_bytes, const DramOptions& options) {
  const Result<std::shared_ptr<SessionCore>> live = slot_->Live();
  if (!live.ok()) {
    return live.status();
  }
  const std::shared_ptr<SessionCore>& core = *live;
  const uint64_t handle = core->NewHandle();
  const Status status = core->Create(kCreateBytes, [&](v1::Command* command) {
    v1::Allocate* allocate = command->mutable_allocate();
    allocate->set_handle(handle);
    allocate->set_size_bytes(size_bytes);
    allocate->set_page_bytes(options.page_bytes);
    if (options.bank >= 0) {
      allocate->set_dram_bank(static_cast<uint32_t>(options.bank));
    } else {
      allocate->mutable_dram();
    }
  });
  if (!status.ok()) {
    return status;
  }
  core->Own(handle, Owned::kBuffer);
  return Buffer(core, handle, size_bytes, options.page_bytes);
}

Result<Buffer> Session::AllocateL1(uint64_t size_bytes, const L1Options& options) {
  const Result<std::shared_ptr<SessionCore>> live = slot_->Live();
  if (!live.ok()) {
    return live.status();
  }
  const std::shared_ptr<SessionCore>& core = *live;
  const uint64_t handle = core->NewHandle();
  const size_t estimate = kCreateBytes + kPerRangeBytes * options.cores.size();
  const Status status = core->Create(estimate, [&](v1::Command* command) {
    v1::Allocate* allocate = command->mutable_allocate();
    allocate->set_handle(handle);
    allocate->set_size_bytes(size_bytes);
    allocate->set_page_bytes(options.page_bytes);
    v1::Interleaved* l1 = allocate->mutable_l1();
    for (const CoreRange& range : options.cores) {
      ToProto(range, l1->add_cores());
    }
  });
  if (!status.ok()) {
    return status;
  }
  core->Own(handle, Owned::kBuffer);
  return Buffer(core, handle, size_bytes, options.page_bytes);
}

Result<Buffer> Session::AllocateSharded(uint64_t size_bytes, const ShardOptions& options) {
  const Result<std::shared_ptr<SessionCore>> live = slot_->Live();
  if (!live.ok()) {
    return live.status();
  }
  const std::shared_ptr<SessionCore>& core = *live;
  const uint64_t handle = core->NewHandle();
  const size_t estimate = kCreateBytes + kPerRangeBytes * options.cores.size();
  const Status status = core->Create(estimate, [&](v1::Command* command) {
    v1::Allocate* allocate = command->mutable_allocate();
    allocate->set_handle(handle);
    allocate->set_size_bytes(size_bytes);
    allocate->set_page_bytes(options.page_bytes);
    v1::Sharded* sharded = allocate->mutable_l1_sharded();
    for (const CoreRange& range : options.cores) {
      ToProto(range, sharded->add_cores());
    }
    sharded->set_row_pages(options.row_pages);
    sharded->set_shard_rows(options.shard_rows);
    sharded->set_shard_row_pages(options.shard_row_pages);
  });
  if (!status.ok()) {
    return status;
  }
  core->Own(handle, Owned::kBuffer);
  return Buffer(core, handle, size_bytes, options.page_bytes);
}

Result<Kernel> Session::LoadKernel(std::span<const std::byte> elf, const std::string& name) {
  const Result<std::shared_ptr<SessionCore>> live = slot_->Live();
  if (!live.ok()) {
    return live.status();
  }
  const std::shared_ptr<SessionCore>& core = *live;
  const Sha256 digest = HashOf(elf);
  uint64_t handle = core->NewHandle();
  const size_t estimate = kCreateBytes + name.size();
  Status status = core->Create(estimate, [&](v1::Command* command) {
    FillLoadKernel(command->mutable_load_kernel(), handle, digest, elf.size(), name);
  });
  if (status.reason() != "KERNEL_NOT_CACHED") {
    return Owning<Kernel>(core, handle, Owned::kKernel, status);
  }
  handle = core->NewHandle();
  const bool streamed = elf.size() > core->limits().inline_bytes;
  Result<Position> position = core->Enqueue(
      SessionCore::kControlQueue, estimate, streamed ? 0 : elf.size(), [&](v1::Command* command) {
        v1::LoadKernel* load = command->mutable_load_kernel();
        FillLoadKernel(load, handle, digest, elf.size(), name);
        if (streamed) {
          load->set_streamed(true);
        } else {
          load->set_inline_(elf.data(), elf.size());
        }
      });
  status = position.status();
  if (status.ok() && streamed) {
    status = core->Supply(*position, elf);
  }
  if (status.ok()) {
    status = core->WaitTold(*position);
  }
  return Owning<Kernel>(core, handle, Owned::kKernel, status);
}

Result<Kernel> Session::LoadKernelFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes;
  if (file) {
    bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (!file) {
    return Status(Code::kNotFound,
                  "cannot read the kernel file " + path + ": " + std::strerror(errno));
  }
  const size_t slash = path.find_last_of('/');
  return LoadKernel(std::as_bytes(std::span(bytes)),
                    slash == std::string::npos ? path : path.substr(slash + 1));
}

Result<Program> Session::CreateProgram(const ProgramBuilder& builder) {
  const Result<std::shared_ptr<SessionCore>> live = slot_->Live();
  if (!live.ok()) {
    return live.status();
  }
  const std::shared_ptr<SessionCore>& core = *live;
  const uint64_t handle = core->NewHandle();
  const Status status = core->Create(EncodedBytes(builder), [&](v1::Command* command) {
    v1::CreateProgram* create = command->mutable_create_program();
    create->set_handle(handle);
    ToProto(builder, create);
  });
  return Owning<Program>(core, handle, Owned::kProgram, status);
}

Queue Session::queue() { return Queue(slot_->core(), SessionCore::kFirstUserQueue); }

Result<Queue> Session::OpenQueue(QueueKind kind, const std::vector<CoreRange>& workers) {
  const Result<std::shared_ptr<SessionCore>> live = slot_->Live();
  if (!live.ok()) {
    return live.status();
  }
  const std::shared_ptr<SessionCore>& core = *live;
  const uint32_t queue = core->NewQueue();
  const size_t estimate = kCreateBytes + kPerRangeBytes * workers.size();
  const Status status = core->Create(estimate, [&](v1::Command* command) {
    v1::OpenQueue* open = command->mutable_open_queue();
    open->set_queue(queue);
    open->set_kind(static_cast<v1::QueueKind>(kind));
    for (const CoreRange& range : workers) {
      ToProto(range, open->add_workers());
    }
  });
  return status.ok() ? Result<Queue>(Queue(core, queue)) : Result<Queue>(status);
}

uint64_t Session::reconnects() const { return slot_->core()->reconnects(); }
Status Session::status() const { return slot_->core()->status(); }
Status Session::Poll(std::chrono::milliseconds timeout) { return slot_->core()->Poll(timeout); }

void Session::OnProgress(std::function<void(Position)> callback) {
  slot_->OnProgress(std::move(callback));
}
void Session::OnTransfer(std::function<void(uint64_t, uint64_t)> callback) {
  slot_->OnTransfer(std::move(callback));
}
void Session::OnPrint(std::function<void(const KernelPrint&)> callback) {
  slot_->OnPrint(std::move(callback));
}

}  // namespace ttfd::client
