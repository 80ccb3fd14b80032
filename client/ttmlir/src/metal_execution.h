// One run of a TTMetal program: its arrays, buffers and kernels.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "client/ttmlir/src/host_array.h"
#include "client/ttmlir/src/metal_plan.h"
#include "ttfd/ttmlir/submit.h"

namespace ttfd::ttmlir {

// Runs a program without problems; one thread.
class MetalExecution {
 public:
  MetalExecution(tensor::Card& card, const MetalPlan& plan, const SubmitOptions& options)
      : card_(card), plan_(plan), options_(options), queue_(card.queue()) {}

  // Returns when the card has done all of it. Kernels are compiled before anything is sent. Each command is waited for:
  // an error of one is that of the call, and leaves the card's queue open.
  client::Result<std::vector<tensor::Tensor>> Run(std::span<const tensor::Tensor> inputs);

 private:
  client::Status CheckGrid() const;
  client::Status Compile();
  client::Status RunCommands();
  client::Status Do(const HostStep& step);
  client::Status Do(const HostCopyStep& step);
  client::Status Do(const CreateStep& step);
  client::Status Do(const ReleaseStep& step);
  client::Status Do(const WriteStep& step);
  client::Status Do(const ReadStep& step);
  client::Status Do(const SetStep& step);
  client::Status Do(const NativeCallStep& step);
  client::Status Do(const LaunchStep& step);

  struct CardBuffer {
    BufferSpec spec;
    client::Buffer buffer;
  };

  tensor::Card& card_;
  const MetalPlan& plan_;
  const SubmitOptions& options_;
  client::Queue queue_;
  std::map<const KernelPlan*, std::vector<KernelImage>> images_;
  std::map<uint32_t, HostArray> hosts_;
  std::map<uint32_t, CardBuffer> buffers_;
};

}  // namespace ttfd::ttmlir
