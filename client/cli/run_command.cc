// ttfdctl run: loads one kernel, gives it files as buffers, launches it, saves what it wrote.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/printing.h"
#include "client/cli/progress_bar.h"
#include "client/cli/text.h"
#include "ttfd/session.h"

namespace ttfd::cli {
namespace {

using client::Code;
using client::Result;
using client::Status;

// A file and the buffer that holds it.
struct FileBuffer {
  std::string path;
  uint64_t size_bytes = 0;
  client::Buffer buffer = {};
};

class Runner {
 public:
  Runner(const RunOptions& options, client::Session session)
      : options_(options), session_(std::move(session)), queue_(session_.queue()) {}

  Status Prepare();
  Status Launch();
  Status SaveOutputs();
  void Report(bool json) const;
  Status Close() { return session_.Close(); }

 private:
  Status Allocate(FileBuffer* file);
  Status LoadInput(const std::string& path);
  Status MakeOutput(const std::string& argument);
  Status BuildProgram();
  Status BuildArguments();
  Status AddArgument(const std::string& text, std::vector<uint32_t>* words);

  const RunOptions& options_;
  client::Session session_;
  client::Queue queue_;
  uint64_t page_bytes_ = 0;
  uint64_t cores_ = 0;
  std::vector<client::CoreRange> ranges_;
  std::vector<FileBuffer> inputs_;
  std::vector<FileBuffer> outputs_;
  client::Kernel kernel_;
  client::Program program_;
  client::LaunchRequest launch_;
  std::chrono::nanoseconds launch_time_{0};
};

Status Runner::Allocate(FileBuffer* file) {
  // Whole pages, so that a kernel may read and write its last page whole.
  const uint64_t pages = std::max<uint64_t>((file->size_bytes + page_bytes_ - 1) / page_bytes_, 1);
  Result<client::Buffer> buffer = session_.AllocateDram(
      pages * page_bytes_, {.page_bytes = static_cast<uint32_t>(page_bytes_)});
  if (!buffer.ok()) {
    return buffer.status();
  }
  file->buffer = std::move(*buffer);
  return Status();
}

Status Runner::LoadInput(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes;
  if (file) {
    bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (!file) {
    return Status(Code::kUnknown, "cannot read " + path);
  }
  FileBuffer input{.path = path, .size_bytes = bytes.size()};
  if (Status status = Allocate(&input); !status.ok()) {
    return status;
  }
  bytes.resize(input.buffer.size_bytes());
  ProgressBar bar("writing " + path, TerminalColumns(STDERR_FILENO), ProgressBar::Clock::now());
  session_.OnTransfer([&bar](uint64_t done, uint64_t total) {
    bar.Update(done, total, ProgressBar::Clock::now());
  });
  Status status = queue_.Write(input.buffer, 0, std::as_bytes(std::span(bytes)));
  session_.OnTransfer(nullptr);
  inputs_.push_back(std::move(input));
  return status;
}

Status Runner::MakeOutput(const std::string& argument) {
  const size_t colon = argument.rfind(':');
  const std::optional<uint64_t> size =
      colon == std::string::npos ? std::nullopt
                                 : ParseSize(std::string_view(argument).substr(colon + 1));
  if (!size || *size == 0 || colon == 0) {
    return UsageError("--out takes FILE:SIZE, such as result.bin:64K, not " + argument);
  }
  FileBuffer output{.path = argument.substr(0, colon), .size_bytes = *size};
  Status status = Allocate(&output);
  outputs_.push_back(std::move(output));
  return status;
}

Status Runner::BuildProgram() {
  const std::optional<client::Processor> processor = ParseProcessor(options_.processor);
  if (!processor) {
    return UsageError("--processor is brisc, ncrisc, trisc0, trisc1 or trisc2, not " +
                      options_.processor);
  }
  for (const std::string& text : options_.cores) {
    const auto range = ParseCores(text, session_.device().grid_x, session_.device().grid_y);
    if (!range) {
      return UsageError("--cores takes X,Y or X0,Y0-X1,Y1 or all, not " + text);
    }
    ranges_.push_back(*range);
    cores_ += range->count();
  }
  Result<client::Kernel> kernel = session_.LoadKernelFile(options_.kernel);
  if (!kernel.ok()) {
    return kernel.status();
  }
  kernel_ = std::move(*kernel);
  client::ProgramBuilder builder;
  builder.AddKernel(kernel_, *processor, ranges_);
  for (const std::string& text : options_.circular_buffers) {
    const auto numbers = ParseTuple(text, 3);
    if (!numbers) {
      return UsageError("--cb takes INDEX:PAGES:PAGE_BYTES, not " + text);
    }
    builder.AddCircularBuffer(static_cast<uint32_t>((*numbers)[0]),
                              static_cast<uint32_t>((*numbers)[1]),
                              static_cast<uint32_t>((*numbers)[2]), ranges_);
  }
  for (const std::string& text : options_.semaphores) {
    const auto numbers = ParseTuple(text, 2);
    if (!numbers) {
      return UsageError("--semaphore takes INDEX:INITIAL, not " + text);
    }
    builder.AddSemaphore(static_cast<uint32_t>((*numbers)[0]), static_cast<uint32_t>((*numbers)[1]),
                         ranges_);
  }
  Result<client::Program> program = session_.CreateProgram(builder);
  if (!program.ok()) {
    return program.status();
  }
  program_ = std::move(*program);
  return Status();
}

// A number, or "in0", "out1": the address of that buffer.
Status Runner::AddArgument(const std::string& text, std::vector<uint32_t>* words) {
  const bool is_input = text.starts_with("in");
  if (is_input || text.starts_with("out")) {
    const std::vector<FileBuffer>& files = is_input ? inputs_ : outputs_;
    const std::optional<uint32_t> index =
        ParseWord(std::string_view(text).substr(is_input ? 2 : 3));
    if (!index || *index >= files.size()) {
      return UsageError("--arg " + text + ": there is no such --in or --out (they count from 0)");
    }
    launch_.Address(0, static_cast<uint32_t>(words->size()), files[*index].buffer);
    words->push_back(0);
    return Status();
  }
  const std::optional<uint32_t> word = ParseWord(text);
  if (!word) {
    return UsageError("--arg takes a 32-bit number, inN or outN, not " + text);
  }
  words->push_back(*word);
  return Status();
}

Status Runner::BuildArguments() {
  launch_ = client::LaunchRequest(program_);
  if (options_.kernel_timeout_ms) {
    launch_.Timeout(std::chrono::milliseconds(*options_.kernel_timeout_ms));
  }
  std::vector<uint32_t> common;
  for (const std::string& text : options_.arguments) {
    if (Status status = AddArgument(text, &common); !status.ok()) {
      return status;
    }
  }
  std::vector<uint32_t> per_core;
  for (const std::string& text : options_.per_core) {
    const std::optional<uint32_t> word = ParseWord(text);
    if (!word) {
      return UsageError("--per-core takes 32-bit numbers, not " + text);
    }
    per_core.push_back(*word);
  }
  if (!per_core.empty() && per_core.size() != cores_ * options_.words_per_core) {
    return UsageError(fmt::format("--per-core has {} words; {} tiles with {} each need {}",
                                  per_core.size(), cores_, options_.words_per_core,
                                  cores_ * options_.words_per_core));
  }
  launch_.Common(0, std::move(common));
  if (!per_core.empty()) {
    launch_.PerCore(0, options_.words_per_core, std::move(per_core));
  }
  return Status();
}

Status Runner::Prepare() {
  const std::optional<uint64_t> page_bytes = ParseSize(options_.page_bytes);
  if (!page_bytes || *page_bytes == 0 || *page_bytes > UINT32_MAX) {
    return UsageError("--page-bytes takes a size such as 2K, not " + options_.page_bytes);
  }
  page_bytes_ = *page_bytes;
  if (Status status = BuildProgram(); !status.ok()) {
    return status;
  }
  for (const std::string& path : options_.inputs) {
    if (Status status = LoadInput(path); !status.ok()) {
      return status;
    }
  }
  for (const std::string& argument : options_.outputs) {
    if (Status status = MakeOutput(argument); !status.ok()) {
      return status;
    }
  }
  return BuildArguments();
}

Status Runner::Launch() {
  const auto before = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < options_.repeat; ++i) {
    if (Status status = queue_.Launch(launch_); !status.ok()) {
      return status;
    }
  }
  launch_time_ = std::chrono::steady_clock::now() - before;
  return Status();
}

Status Runner::SaveOutputs() {
  for (const FileBuffer& output : outputs_) {
    std::vector<char> bytes(output.size_bytes);
    ProgressBar bar("reading " + output.path, TerminalColumns(STDERR_FILENO),
                    ProgressBar::Clock::now());
    session_.OnTransfer([&bar](uint64_t done, uint64_t total) {
      bar.Update(done, total, ProgressBar::Clock::now());
    });
    Status status = queue_.Read(output.buffer, 0, std::as_writable_bytes(std::span(bytes)));
    session_.OnTransfer(nullptr);
    if (!status.ok()) {
      return status;
    }
    std::ofstream file(output.path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) {
      return Status(Code::kUnknown, "cannot write " + output.path);
    }
  }
  return Status();
}

void Runner::Report(bool json) const {
  const double us = std::chrono::duration<double, std::micro>(launch_time_).count() /
                    std::max(options_.repeat, 1U);
  if (!json) {
    PrintLine(fmt::format("{} on {} tile{}: {} launch{}, {:.1f} us each", options_.kernel, cores_,
                          cores_ == 1 ? "" : "s", options_.repeat, options_.repeat == 1 ? "" : "es",
                          us));
    for (const FileBuffer& output : outputs_) {
      PrintLine(output.path + ": " + Bytes(output.size_bytes));
    }
    return;
  }
  const auto output_json = [](const FileBuffer& output) -> Json {
    return {{"file", output.path}, {"size_bytes", output.size_bytes}};
  };
  PrintJson({{"kernel", options_.kernel},
             {"tiles", cores_},
             {"launches", options_.repeat},
             {"launch_us", us},
             {"outputs", JsonList(outputs_, output_json)}});
}

}  // namespace

int Run(const Common& common, const RunOptions& options) {
  if (options.cores.empty()) return Fail(UsageError("run needs --cores for a kernel"));
  Result<client::Session> session = client::Session::Connect({.address = common.address,
                                                              .client_name = "ttfdctl run",
                                                              .connect_timeout = common.timeout()});
  if (!session.ok()) {
    return Fail(session.status());
  }
  Runner runner(options, std::move(*session));
  Status status = runner.Prepare();
  if (status.ok()) {
    status = runner.Launch();
  }
  if (status.ok()) {
    status = runner.SaveOutputs();
  }
  if (!status.ok()) {
    return Fail(status);
  }
  runner.Report(common.json);
  status = runner.Close();
  return status.ok() ? static_cast<int>(kOk) : Fail(status);
}

}  // namespace ttfd::cli
