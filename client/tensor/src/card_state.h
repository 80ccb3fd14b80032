// All that operations on a card share, and the memory of its tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "client/cpp/src/mutex.h"
#include "client/tensor/src/buffer_pool.h"
#include "client/tensor/src/core_set.h"
#include "client/tensor/src/lowering.h"
#include "client/tensor/src/programs.h"
#include "client/tensor/src/stream.h"
#include "ttfd/session.h"
#include "ttfd/tensor/card.h"

namespace ttfd::tensor {

class Storage;

// Shared by the copies of a Card and by the storages of its tensors. Thread-safe: launches of an operation are enqueued
// together, under one lock, which no call holds while it waits for the card to compute.
class CardState : public std::enable_shared_from_this<CardState> {
 public:
  CardState(client::Session session, CoreSet cores, const CardLimits& limits);

  const CardLimits& limits() const { return limits_; }
  client::Session& session() { return session_; }
  client::Queue queue() { return session_.queue(); }

  // Memory for a tensor.
  client::Result<std::shared_ptr<Storage>> Allocate(const TensorSpec& spec);
  // From a tensor that is gone.
  void Return(client::Buffer buffer);

  // Enqueues the launches of an operation. `inputs` and `output` are what the lowering's addresses name.
  client::Status Launch(const Lowering& lowering, std::span<const client::Buffer* const> inputs,
                        const client::Buffer& output);

  Card::Counts counts() const;

 private:
  client::LaunchRequest RequestOf(const Lowering& lowering, const client::Program& program,
                                  uint32_t index, std::span<const client::Buffer* const> inputs,
                                  const client::Buffer& output) const;

  client::Session session_;
  const CoreSet cores_;
  const CardLimits limits_;

  mutable client::Mutex mutex_;
  BufferPool pool_ ABSL_GUARDED_BY(mutex_);
  ProgramCache programs_ ABSL_GUARDED_BY(mutex_);
  Stream stream_ ABSL_GUARDED_BY(mutex_);
  uint64_t operations_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The elements of a tensor: shared by its copies.
class Storage {
 public:
  Storage(std::shared_ptr<CardState> card, client::Buffer buffer)
      : card_(std::move(card)), buffer_(std::move(buffer)) {}
  ~Storage() { Deallocate(); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  const std::shared_ptr<CardState>& card() const { return card_; }
  // Null: deallocated.
  const client::Buffer* buffer() const { return buffer_.handle() == 0 ? nullptr : &buffer_; }
  // Not while another thread uses the storage.
  void Deallocate();

 private:
  std::shared_ptr<CardState> card_;
  client::Buffer buffer_;
};

}  // namespace ttfd::tensor
