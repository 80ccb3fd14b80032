// The elements of a tensor: memory that its copies share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "client/tensor/src/buffer_pool.h"
#include "ttfd/session.h"

namespace ttfd::tensor {

class CardState;

// The pool of a recording, and whether its launches have run: before, the tensors of the recording have no content.
struct RecordingMemory {
  explicit RecordingMemory(BufferPool* parent) : pool(parent) {}

  BufferPool pool;  // under the card's lock
  std::atomic<bool> has_run = false;
};

// A buffer that returns to its pool with its last user: the storage of a tensor, or a recording whose launches read it.
class Allocation {
 public:
  // `recording` is that in which the tensor is made; null: none.
  Allocation(std::shared_ptr<CardState> card, client::Buffer buffer,
             std::shared_ptr<RecordingMemory> recording)
      : card_(std::move(card)), buffer_(std::move(buffer)), recording_(std::move(recording)) {}
  ~Allocation();  // takes the card's lock
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  const std::shared_ptr<CardState>& card() const { return card_; }
  const client::Buffer& buffer() const { return buffer_; }
  const std::shared_ptr<RecordingMemory>& recording() const { return recording_; }

 private:
  std::shared_ptr<CardState> card_;
  client::Buffer buffer_;
  std::shared_ptr<RecordingMemory> recording_;
};

class Storage {
 public:
  explicit Storage(std::shared_ptr<Allocation> allocation) : allocation_(std::move(allocation)) {}

  // Null: deallocated.
  const std::shared_ptr<Allocation>& allocation() const { return allocation_; }
  // Not while another thread uses the storage.
  void Deallocate() { allocation_.reset(); }

  // How often an operation has changed the elements in place.
  uint64_t version() const { return version_; }
  void NoteChange() { ++version_; }

 private:
  std::shared_ptr<Allocation> allocation_;
  std::atomic<uint64_t> version_ = 0;
};

}  // namespace ttfd::tensor
