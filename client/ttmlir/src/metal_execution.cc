// One run of a TTMetal program.
#include "client/ttmlir/src/metal_execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace ttfd::ttmlir {
namespace {

using client::Buffer;
using client::Code;
using client::CoreRange;
using client::Kernel;
using client::Result;
using client::Status;
using tensor::Tensor;

// A kernel in the program that is being built, whatever its harts.
class LoadedKernel {
 public:
  Status Load(client::Session& session, const KernelPlan& plan,
              const std::vector<KernelImage>& images) {
    for (size_t i = 0; i < images.size(); ++i) {
      Result<Kernel> kernel = session.LoadKernel(images[i], plan.name);
      if (!kernel.ok()) return kernel.status();
      kernels_.push_back(*std::move(kernel));
    }
    return Status();
  }
  void AddTo(client::ProgramBuilder* builder, const KernelPlan& plan) {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      indices_.push_back(builder->AddKernel(kernels_[i], plan.processors[i], plan.cores));
    }
  }
  const std::vector<uint32_t>& indices() const { return indices_; }

 private:
  std::vector<Kernel> kernels_;
  std::vector<uint32_t> indices_;
};

}  // namespace

Status MetalExecution::CheckGrid() const {
  const client::DeviceInfo& device = card_.session().device();
  const auto check = [&](const std::vector<CoreRange>& cores) {
    return std::all_of(cores.begin(), cores.end(), [&](const CoreRange& range) {
      return range.x1 < device.grid_x && range.y1 < device.grid_y;
    });
  };
  for (size_t i = 0; i < plan_.commands.size(); ++i) {
    for (const MetalStep& step : plan_.commands[i].steps) {
      const auto* const create = std::get_if<CreateStep>(&step);
      const auto* const launch = std::get_if<LaunchStep>(&step);
      bool fits = create == nullptr || check(create->spec.cores);
      if (launch != nullptr) {
        fits = std::all_of(launch->kernels.begin(), launch->kernels.end(),
                           [&](const KernelPlan& kernel) { return check(kernel.cores); });
      }
      if (fits) continue;
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: it uses workers outside the {} by {} of the card",
                                NameOf(plan_, i), device.grid_x, device.grid_y));
    }
  }
  return Status();
}

Status MetalExecution::Compile() {
  constexpr uint64_t kMaxImageBytes = uint64_t{256} << 20;
  uint64_t bytes = 0;
  KernelCompiler compiler(KernelCache::OfUser(), options_.compile_time);
  for (size_t i = 0; i < plan_.commands.size(); ++i) {
    for (const MetalStep& step : plan_.commands[i].steps) {
      const auto* const launch = std::get_if<LaunchStep>(&step);
      if (launch == nullptr) continue;
      for (const KernelPlan& kernel : launch->kernels) {
        Result<std::vector<KernelImage>> images = compiler.Compile(kernel.WholeSource());
        if (!images.ok()) {
          return Status(images.status().code(),
                        fmt::format("{}: {}", NameOf(plan_, i), images.status().message()));
        }
        for (const KernelImage& image : *images) bytes += image.size();
        if (bytes > kMaxImageBytes) {
          return Status(Code::kResourceExhausted,
                        fmt::format("its kernels are more than {} bytes", kMaxImageBytes));
        }
        images_[&kernel] = *std::move(images);
      }
    }
  }
  return Status();
}

Status MetalExecution::Do(const HostStep& step) {
  HostArray array(step.spec);
  if (!step.bytes.empty()) {
    std::memcpy(array.bytes().data(), step.bytes.data(), array.bytes().size());
  }
  hosts_.insert_or_assign(step.id, std::move(array));
  return Status();
}

Status MetalExecution::Do(const HostCopyStep& step) {
  hosts_.at(step.to).SetElements(hosts_.at(step.from).Elements());
  return Status();
}

Status MetalExecution::Do(const CreateStep& step) {
  const BufferSpec& spec = step.spec;
  Result<Buffer> made =
      spec.cores.empty()
          ? card_.session().AllocateDram(spec.bytes, {.page_bytes = spec.page_bytes})
          : card_.session().AllocateSharded(spec.bytes, {.page_bytes = spec.page_bytes,
                                                         .cores = spec.cores,
                                                         .row_pages = spec.row_pages,
                                                         .shard_rows = spec.shard_rows,
                                                         .shard_row_pages = spec.shard_row_pages});
  if (!made.ok()) return made.status();
  buffers_.insert_or_assign(step.id, CardBuffer{spec, *std::move(made)});
  return Status();
}

Status MetalExecution::Do(const ReleaseStep& step) {
  buffers_.erase(step.id);
  return Status();
}

Status MetalExecution::Do(const WriteStep& step) {
  HostArray& from = hosts_.at(step.from);
  const CardBuffer& to = buffers_.at(step.to);
  if (!to.spec.is_tiled) {
    return queue_.Write(to.buffer, 0, from.bytes().first(to.spec.bytes));
  }
  const Result<std::vector<std::byte>> tiles = from.Tiles();
  if (!tiles.ok()) return tiles.status();
  return queue_.Write(to.buffer, 0, *tiles);
}

Status MetalExecution::Do(const ReadStep& step) {
  const CardBuffer& from = buffers_.at(step.from);
  HostArray& to = hosts_.at(step.to);
  if (!from.spec.is_tiled) {
    return queue_.Read(from.buffer, 0, to.bytes().first(from.spec.bytes));
  }
  std::vector<std::byte> tiles(from.spec.bytes);
  if (Status status = queue_.Read(from.buffer, 0, tiles); !status.ok()) return status;
  return to.TakeTiles(tiles);
}

Status MetalExecution::Do(const SetStep& step) {
  const CardBuffer& semaphore = buffers_.at(step.id);
  return queue_.Fill(semaphore.buffer, 0, semaphore.spec.bytes, step.value);
}

Status MetalExecution::Do(const NativeCallStep& step) {
  std::vector<NativeArray> inputs;
  for (const uint32_t id : step.inputs) {
    const HostArray& array = hosts_.at(id);
    const std::vector<std::byte> elements = array.Elements();
    inputs.push_back({array.spec().extents, std::vector<uint32_t>(array.spec().elements())});
    std::memcpy(inputs.back().words.data(), elements.data(), elements.size());
  }
  const size_t made = step.function.returns_outputs ? step.results.size() : 1;
  std::vector<NativeArray> outputs;
  for (size_t i = 0; i < made; ++i) outputs.push_back({step.results[i].spec.extents, {}});
  Status status = CallNative(step.function, inputs, &outputs,
                             {options_.native_time, options_.native_memory_bytes});
  for (size_t i = 0; status.ok() && i < step.results.size(); ++i) {
    HostArray array(step.results[i].spec);
    array.SetElements(std::as_bytes(std::span(outputs[std::min(i, made - 1)].words)));
    hosts_.insert_or_assign(step.results[i].id, std::move(array));
  }
  return status;
}

Status MetalExecution::Do(const LaunchStep& step) {
  client::ProgramBuilder builder;
  std::vector<LoadedKernel> kernels(step.kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelPlan& plan = step.kernels[i];
    Status status = kernels[i].Load(card_.session(), plan, images_.at(&plan));
    if (!status.ok()) return status;
    kernels[i].AddTo(&builder, plan);
  }
  for (const CircularBufferPlan& plan : step.circular_buffers) {
    if (plan.buffer) {
      builder.AddCircularBuffer(plan.index, plan.pages, plan.page_bytes, plan.cores, plan.format,
                                buffers_.at(*plan.buffer).buffer);
    } else {
      builder.AddCircularBuffer(plan.index, plan.pages, plan.page_bytes, plan.cores, plan.format);
    }
  }
  for (const SemaphorePlan& plan : step.semaphores) {
    builder.AddSemaphore(plan.index, plan.initial, plan.cores);
  }
  const Result<client::Program> program = card_.session().CreateProgram(builder);
  if (!program.ok()) return program.status();
  client::LaunchRequest launch(*program);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const std::vector<ArgumentWord>& words = step.kernels[i].words;
    std::vector<uint32_t> numbers(words.size());
    for (size_t j = 0; j < words.size(); ++j) {
      if (words[j].kind == ArgumentWord::Kind::kNumber) numbers[j] = words[j].value;
      if (words[j].kind != ArgumentWord::Kind::kScalar) continue;
      std::memcpy(&numbers[j], hosts_.at(words[j].value).bytes().data(), sizeof(uint32_t));
    }
    for (const uint32_t index : kernels[i].indices()) {
      if (!words.empty()) launch.Common(index, numbers);
      for (size_t j = 0; j < words.size(); ++j) {
        if (words[j].kind != ArgumentWord::Kind::kAddress) continue;
        launch.Address(index, static_cast<uint32_t>(j), buffers_.at(words[j].value).buffer);
      }
    }
  }
  return queue_.Launch(launch);
}

Status MetalExecution::RunCommands() {
  const auto run = [this](const std::vector<MetalStep>& steps) {
    Status status;
    for (size_t i = 0; i < steps.size() && status.ok(); ++i) {
      status = std::visit([this](const auto& one) { return Do(one); }, steps[i]);
    }
    return status;
  };
  Status status = run(plan_.before);
  for (size_t i = 0; i < plan_.commands.size() && status.ok(); ++i) {
    status = run(plan_.commands[i].steps);
    if (status.ok()) continue;
    return Status(status.code(), fmt::format("{}: {}", NameOf(plan_, i), status.message()));
  }
  return status.ok() ? run(plan_.after) : status;
}

Result<std::vector<Tensor>> MetalExecution::Run(std::span<const Tensor> inputs) {
  if (card_.IsRecording()) {
    return Status(Code::kFailedPrecondition,
                  "the card is recording, and commands of TTMetal are not recorded");
  }
  Status status = CheckGrid();
  if (status.ok()) status = Compile();
  for (size_t i = 0; i < inputs.size() && status.ok(); ++i) {
    HostArray array(plan_.inputs[i].spec);
    status = array.Take(inputs[i]);
    hosts_.insert_or_assign(plan_.inputs[i].id, std::move(array));
  }
  if (status.ok()) status = RunCommands();
  if (!status.ok()) return status;
  std::vector<Tensor> outputs;
  for (const MetalArray& output : plan_.outputs) {
    Result<Tensor> made = hosts_.at(output.id).Give(card_);
    if (!made.ok()) return made.status();
    outputs.push_back(*std::move(made));
  }
  return outputs;
}

}  // namespace ttfd::ttmlir
