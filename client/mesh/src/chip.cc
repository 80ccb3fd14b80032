#include "client/mesh/src/chip.h"

#include <utility>
#include <vector>

#include "client/mesh/src/ring.h"
#include "firmware/mesh/elfs.h"

namespace ttfd::mesh {
namespace {

using client::Buffer;
using client::Program;
using client::Session;

constexpr uint32_t kMostPasses = 2;  // of an operation; two stamps each

Result<RingProgram> MakeProgram(Session& session, const client::Kernel& sender,
                                const client::Kernel& receiver, uint32_t axis) {
  const std::vector<client::CoreRange> worker = {client::CoreRange::Single(WorkerOf(axis))};
  client::ProgramBuilder builder;
  RingProgram made;
  made.sender = builder.AddKernel(sender, client::Processor::kNcrisc, worker);
  made.receiver = builder.AddKernel(receiver, client::Processor::kBrisc, worker);
  for (const uint32_t scratch : {kRingSenderScratch, kRingReceiverScratch}) {
    builder.AddCircularBuffer(scratch, 1, kRingScratchBytes, worker);
  }
  builder.AddSemaphore(kRingWritten, 0, worker);
  Result<Program> program = session.CreateProgram(builder);
  if (!program.ok()) return program.status();
  made.program = *std::move(program);
  return made;
}

}  // namespace

Status Prepare(Chip& chip, const std::array<bool, 2>& used) {
  Session& session = *chip.session;
  Result<Buffer> stamps =
      session.AllocateDram(2 * kMostPasses * kRingStampBytes, {.page_bytes = kRingStampBytes});
  if (!stamps.ok()) return stamps.status();
  chip.stamps = *std::move(stamps);
  const Result<client::Kernel> sender = session.LoadKernel(RingSenderElf(), "ring_sender");
  if (!sender.ok()) return sender.status();
  const Result<client::Kernel> receiver = session.LoadKernel(RingReceiverElf(), "ring_receiver");
  if (!receiver.ok()) return receiver.status();
  for (const uint32_t axis : {0u, 1u}) {
    if (!used[axis]) continue;
    Result<RingProgram> made = MakeProgram(session, *sender, *receiver, axis);
    if (!made.ok()) return made.status();
    chip.programs[axis] = *std::move(made);
  }
  return {};
}

}  // namespace ttfd::mesh
