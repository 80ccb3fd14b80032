// Session: connecting, and the resources it creates.
#include "ttfd/session.h"

#include <openssl/sha.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "client/cpp/src/command_size.h"
#include "client/cpp/src/convert.h"
#include "client/cpp/src/options.h"
#include "client/cpp/src/session_core.h"
#include "client/cpp/src/session_slot.h"

namespace ttfd::client {
namespace {

constexpr MessageSize kKernelHash = {40, 0};  // and its size

using Sha256 = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Sha256 HashOf(std::span<const std::byte> bytes) {
  Sha256 digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

uint64_t NewHandle(SessionCore* core) {
  return core->WithHandles([](Handles& handles) { return handles.New(); });
}

void AddResource(SessionCore* core, uint64_t handle, ResourceKind kind) {
  core->WithHandles([handle, kind](Handles& handles) { handles.Add(handle, kind); });
}

template <typename Resource>
Result<Resource> Owning(const std::shared_ptr<SessionCore>& core, uint64_t handle,
                        ResourceKind kind, const Status& status) {
  if (!status.ok()) {
    return status;
  }
  AddResource(core.get(), handle, kind);
  return Resource(core, handle);
}

template <typename Options>
Result<Buffer> Allocate(SessionSlot* slot, uint64_t size_bytes, const Options& options) {
  const Result<std::shared_ptr<SessionCore>> live = slot->Live();
  if (!live.ok()) {
    return live.status();
  }
  const std::shared_ptr<SessionCore>& core = *live;
  const uint64_t handle = NewHandle(core.get());
  const Status status = core->Create(SizeOf(options), [&](v1::Command* command) {
    v1::Allocate* allocate = command->mutable_allocate();
    allocate->set_handle(handle);
    allocate->set_size_bytes(size_bytes);
    ToProto(options, allocate);
  });
  if (!status.ok()) {
    return status;
  }
  AddResource(core.get(), handle, ResourceKind::kBuffer);
  return Buffer(core, handle, size_bytes, options.page_bytes);
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
void Session::Abandon() { slot_->core()->Shutdown(); }

uint64_t Session::id() const { return slot_->core()->info().session; }
const std::string& Session::address() const { return slot_->core()->options().address; }
const std::string& Session::daemon_version() const { return slot_->core()->info().daemon_version; }
const std::vector<DeviceInfo>& Session::devices() const { return slot_->core()->info().devices; }
const DeviceInfo& Session::device() const { return slot_->core()->device(); }
const Limits& Session::limits() const { return slot_->core()->info().limits; }
std::string Session::lease_token() const { return slot_->core()->info().lease_token; }

Result<Buffer> Session::AllocateDram(uint64_t size_bytes, const DramOptions& options) {
  return Allocate(slot_.get(), size_bytes, options);
}

Result<Buffer> Session::AllocateL1(uint64_t size_bytes, const L1Options& options) {
  return Allocate(slot_.get(), size_bytes, options);
}

Result<Buffer> Session::AllocateSharded(uint64_t size_bytes, const ShardOptions& options) {
  return Allocate(slot_.get(), size_bytes, options);
}

Result<Kernel> Session::LoadKernel(std::span<const std::byte> elf, const std::string& name) {
  const Result<std::shared_ptr<SessionCore>> live = slot_->Live();
  if (!live.ok()) {
    return live.status();
  }
  const std::shared_ptr<SessionCore>& core = *live;
  const Sha256 digest = HashOf(elf);
  uint64_t handle = NewHandle(core.get());
  const MessageSize size = kSmallCommand + kKernelHash + MessageSize{name.size(), 0};
  Status status = core->Create(size, [&](v1::Command* command) {
    FillLoadKernel(command->mutable_load_kernel(), handle, digest, elf.size(), name);
  });
  if (status.reason() != "KERNEL_NOT_CACHED") {
    return Owning<Kernel>(core, handle, ResourceKind::kKernel, status);
  }
  handle = NewHandle(core.get());
  const bool streamed = elf.size() > core->inline_bytes();
  Result<Position> position =
      core->Enqueue(SessionQueues::kControlQueue, size + MessageSize{streamed ? 0 : elf.size(), 0},
                    [&](v1::Command* command) {
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
    status = core->WaitAndClear(*position);
  }
  return Owning<Kernel>(core, handle, ResourceKind::kKernel, status);
}

std::string NextToExecutable(const std::string& file) {
  std::error_code error;  // no /proc: the current folder
  return (std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / file).string();
}

Result<Kernel> Session::LoadKernelFile(const std::string& path, const std::string& name) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes;
  if (file) {
    bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (!file) {
    return Status(Code::kNotFound,
                  "cannot read the kernel file " + path + ": " + std::strerror(errno));
  }
  const std::string own = path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
  Result<Kernel> kernel = LoadKernel(std::as_bytes(std::span(bytes)), name.empty() ? own : name);
  if (kernel.status().error().field.starts_with("load_kernel")) {  // it is about the file
    ErrorInfo error = kernel.status().error();
    error.message = path + ": " + error.message;
    return Status(std::move(error));
  }
  return kernel;
}

Result<ComputeKernel> Session::LoadKernels(const std::string& path) {
  std::array<Kernel, 3> kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    Result<Kernel> kernel = LoadKernelFile(path + "_trisc" + std::to_string(i) + ".elf");
    if (!kernel.ok()) {
      return kernel.status();
    }
    kernels[i] = *std::move(kernel);
  }
  return ComputeKernel(std::move(kernels));
}

Result<Program> Session::CreateProgram(const ProgramBuilder& builder) {
  const Result<std::shared_ptr<SessionCore>> live = slot_->Live();
  if (!live.ok()) {
    return live.status();
  }
  const std::shared_ptr<SessionCore>& core = *live;
  const uint64_t handle = NewHandle(core.get());
  const Status status = core->Create(SizeOf(builder), [&](v1::Command* command) {
    v1::CreateProgram* create = command->mutable_create_program();
    create->set_handle(handle);
    ToProto(builder, create);
  });
  return Owning<Program>(core, handle, ResourceKind::kProgram, status);
}

Queue Session::queue() { return Queue(slot_->core(), SessionQueues::kFirstUserQueue); }

Result<Queue> Session::OpenQueue(const QueueOptions& options) {
  const Result<std::shared_ptr<SessionCore>> live = slot_->Live();
  if (!live.ok()) {
    return live.status();
  }
  const Result<uint32_t> queue = (*live)->OpenQueue(options);
  return queue.ok() ? Result<Queue>(Queue(*live, *queue)) : Result<Queue>(queue.status());
}

uint64_t Session::reconnects() const { return slot_->core()->reconnects(); }
Status Session::status() const { return slot_->core()->status(); }
Status Session::Poll(std::chrono::milliseconds timeout) { return slot_->core()->Poll(timeout); }

void Session::OnProgress(std::function<void(Position)> callback) {
  slot_->SetCallbacks([&](Callbacks* all) { all->on_progress = std::move(callback); });
}
void Session::OnTransfer(std::function<void(uint64_t, uint64_t)> callback) {
  slot_->SetCallbacks([&](Callbacks* all) { all->on_transfer = std::move(callback); });
}
void Session::OnPrint(std::function<void(const KernelPrint&)> callback) {
  slot_->SetCallbacks([&](Callbacks* all) { all->on_print = std::move(callback); });
}

}  // namespace ttfd::client
