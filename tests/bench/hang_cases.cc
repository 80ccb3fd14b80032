// What a launch that hangs costs everybody else.
#include <memory>
#include <string>
#include <utility>

#include "firmware/kernel_elfs.h"
#include "tests/bench/bench_case.h"
#include "ttfd/session.h"

namespace ttfd::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

Status ToStatus(const client::Status& status) {
  return status.ok() ? OkStatus()
                     : MakeStatus(static_cast<StatusCode>(status.code()), status.ToString());
}

// A session with a kernel on the first worker tile.
struct OneKernel {
  std::unique_ptr<client::Session> session;
  client::Queue queue;
  client::Kernel kernel;
  client::Program program;
  client::LaunchRequest launch;

  Status Connect(const std::string& address, const char* name) {
    client::Result<client::Session> connected =
        client::Session::Connect({.address = address, .client_name = "bench"});
    RETURN_IF_ERROR(ToStatus(connected.status()));
    session = std::make_unique<client::Session>(std::move(*connected));
    queue = session->queue();
    client::Result<client::Kernel> loaded = session->LoadKernel(KernelElf(name), name);
    RETURN_IF_ERROR(ToStatus(loaded.status()));
    kernel = std::move(*loaded);
    const client::CoreRange tile{0, 0, 0, 0};
    client::ProgramBuilder builder;
    builder.AddKernel(kernel, client::Processor::kBrisc, {tile});
    builder.AddSemaphore(0, 0, {tile});
    client::Result<client::Program> made = session->CreateProgram(builder);
    RETURN_IF_ERROR(ToStatus(made.status()));
    program = std::move(*made);
    launch = client::LaunchRequest(program);
    return OkStatus();
  }
};

// From sending a launch that hangs at once until another session's launch behind it is done: the card is found to hang,
// the report is on the disk, the card is reset and verified.
StatusOr<double> RecoveryMilliseconds(const AddressFunction& address, OneKernel& bystander) {
  ASSIGN_OR_RETURN(const std::string where, address());
  if (bystander.session == nullptr) RETURN_IF_ERROR(bystander.Connect(where, "empty"));
  RETURN_IF_ERROR(ToStatus(bystander.queue.Launch(bystander.launch)));
  OneKernel offender;
  RETURN_IF_ERROR(offender.Connect(where, "wait_forever"));
  const SteadyClock::time_point start = SteadyClock::now();
  const client::Status hung = offender.queue.Launch(offender.launch);
  RETURN_IF_ERROR(ToStatus(bystander.queue.Launch(bystander.launch)));
  const SteadyClock::duration took = SteadyClock::now() - start;
  if (hung.code() != client::Code::kAborted) {
    return Internal("a launch that waits for ever ended with {}", hung.ToString());
  }
  return std::chrono::duration<double, std::milli>(took).count();
}

}  // namespace

std::vector<BenchCase> HangCases(AddressFunction address) {
  const auto bystander = std::make_shared<OneKernel>();
  return {{"hang.recovery_ms", "ms",
           [address = std::move(address), bystander](std::chrono::nanoseconds) {
             return RecoveryMilliseconds(address, *bystander);
           }}};
}

}  // namespace ttfd::bench
