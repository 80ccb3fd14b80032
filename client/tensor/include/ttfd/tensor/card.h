// A card as a place for tensors: a session with the daemon, and what operations need of it.
//
//   #include <ttfd/tensor/ops.h>
//   namespace tt = ttfd::tensor;
//
//   tt::Result<tt::Card> card = tt::Card::Open();
//   tt::Tensor w = card->FromHost(weights, {768, 3072}, tt::DType::kBfp8);
//   tt::Tensor x = card->FromHost(input, {128, 768});      // bfloat16
//   tt::Tensor y = tt::Gelu(tt::Linear(x, w, bias));
//   tt::Result<std::vector<float>> numbers = y.ToHost();
//
// Operations are enqueued on one queue of the session, in the order of the calls. Any thread may call; the calls of
// several threads take turns, none of them while another waits for the card.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ttfd/session.h"
#include "ttfd/tensor/recording.h"
#include "ttfd/tensor/task_recording.h"
#include "ttfd/tensor/tensor.h"

namespace ttfd::tensor {

struct CardOptions {
  client::ConnectOptions connect = {};
  // The workers that operations may use; none twice. None: all workers, or those of connect.lease.
  std::vector<client::CoreRange> cores = {};
  // Longest launch, in products of two tiles, which bounds how long other sessions wait for the cores: a launch is
  // not interrupted. Larger operations become several launches.
  uint32_t launch_products = 4096;
};

// A handle: copies are the same card. The session ends with the last copy and the last tensor.
class Card {
 public:
  using Options = CardOptions;

  // Errors of Session::Connect; INVALID_ARGUMENT for the other options.
  static Result<Card> Open(Options options = {});
  // The same in a session that exists; options.connect is not used but for its lease. When that session is lost, what
  // the card has is gone as well: all its calls are errors from then on, though the session may have a successor.
  static Result<Card> In(std::shared_ptr<client::Session> session, const Options& options = {});

  // A tensor of these elements, the last extent running fastest; their conversion is that of <ttfd/tiles.h>. Returns
  // when `elements` may be reused. INVALID_ARGUMENT, RESOURCE_EXHAUSTED: the tensor's status().
  Tensor FromHost(std::span<const float> elements, Shape shape, DType dtype = DType::kBFloat16,
                  Layout layout = Layout::kTile);

  // The same of integers, of kUInt32.
  Tensor FromHost(std::span<const uint32_t> elements, Shape shape,
                  Layout layout = Layout::kRowMajor);

  // From BeginRecording to EndRecording the operations that the calling thread calls on this card are recorded, in
  // place of running them: <ttfd/tensor/recording.h>. The first error of one is that of the recording.
  // FAILED_PRECONDITION: a recording is under way; none is, or it has no operation. RESOURCE_EXHAUSTED: it exceeds what
  // a trace may have.
  Status BeginRecording(const RecordingOptions& options = {});
  Result<Recording> EndRecording();
  // Both, with the calls of `operations` between them; it does not throw.
  Result<Recording> Record(const std::function<void()>& operations,
                           const RecordingOptions& options = {});
  // The same, but the operations become tasks of a graph in the card's session, in place of EndRecording:
  // <ttfd/tensor/task_recording.h>. Clocks are not read. INVALID_ARGUMENT: the graph is in another session; mistakes
  // that its tasks make in it, such as too many buffers, come from its Run.
  Result<TaskRecording> EndRecordingAsTasks(graph::Graph* graph);
  Result<TaskRecording> RecordTasks(graph::Graph* graph, const std::function<void()>& operations);
  // Whether the calling thread is between the two.
  bool IsRecording() const;

  // Waits until all operations enqueued so far have ended, for at most ConnectOptions::call_timeout. The first error of
  // one fails all after it, until ClearError.
  Status Finish();
  Status ClearError();

  // For programs of one's own: launches on this queue come between operations, and Tensor::buffer() is what they use.
  client::Session& session();
  client::Queue queue();
  // Worker tiles that operations may use.
  uint32_t cores() const;

  struct Counts {
    uint64_t operations = 0;
    uint64_t launches = 0;
    uint64_t programs = 0;      // that exist
    uint64_t pooled_bytes = 0;  // of buffers that wait for their next tensor
  };
  Counts counts() const;

 private:
  explicit Card(std::shared_ptr<CardState> state);
  Tensor Write(std::span<const float> elements, TensorSpec spec);

  std::shared_ptr<CardState> state_;
};

}  // namespace ttfd::tensor
