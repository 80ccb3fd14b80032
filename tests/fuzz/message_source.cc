// Bytes to messages.
#include "tests/fuzz/message_source.h"

#include <algorithm>

namespace ttfd {
namespace {

constexpr uint32_t kQueues = 4;

}  // namespace

MessageSource::MessageSource(std::span<const uint8_t> bytes) : bytes_(bytes) {
  from_wire_ = Byte() % 2 == 1;
}

uint8_t MessageSource::Byte() {
  if (bytes_.empty()) return 0;
  const uint8_t byte = bytes_.front();
  bytes_ = bytes_.subspan(1);
  return byte;
}

uint64_t MessageSource::Size() {
  constexpr uint64_t kSizes[] = {0,
                                 1,
                                 15,
                                 16,
                                 64,
                                 1000,
                                 1024,
                                 4096,
                                 65536,
                                 65537,
                                 300'000,
                                 uint64_t{1} << 20,
                                 uint64_t{1} << 32,
                                 uint64_t{1} << 53,
                                 ~uint64_t{0}};
  return kSizes[Below(std::size(kSizes))] + (Below(8) == 0 ? Byte() : 0);
}

std::string MessageSource::Bytes(size_t count) {
  std::string bytes(std::min<size_t>(count, 70'000), '\0');
  const uint8_t seed = Byte();
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(seed + i);
  return bytes;
}

std::optional<std::string> MessageSource::Next() {
  if (bytes_.empty()) return std::nullopt;
  if (from_wire_) return NextFromWire();
  v1::ClientMessage message;
  NextFromChoices(&message);
  return message.SerializeAsString();
}

std::string MessageSource::NextFromWire() {
  const size_t low = Byte();
  const size_t high = Byte();
  const size_t length = std::min(low | high << 8, bytes_.size());
  std::string message(reinterpret_cast<const char*>(bytes_.data()), length);
  bytes_ = bytes_.subspan(length);
  return message;
}

void MessageSource::NextFromChoices(v1::ClientMessage* message) {
  if (!greeted_ || Below(64) == 0) {
    v1::Hello* const hello = message->mutable_hello();
    hello->set_min_revision(1);
    hello->set_max_revision(1);
    hello->set_client_name("fuzz");
    hello->set_weight(1 + Below(4));
    if (Below(4) == 0) hello->set_reconnect_timeout_ms(Byte());
    greeted_ = true;
    return;
  }
  // Mostly the next number; a duplicate, a gap, or only an ack.
  const uint32_t kind = Below(64);
  if (kind != 0) message->set_sequence(kind == 1 ? Byte() : ++sequence_);
  if (Below(8) == 0) message->set_ack(Below(4));
  if (sequence_ == 1) AddOpenQueue(message);
  for (uint32_t parts = 1 + Below(3); parts > 0; --parts) {
    switch (Below(8)) {
      case 0:
      case 1:
        AddData(message);
        break;
      case 2: {
        v1::Cancel* const cancel = message->add_cancels();
        cancel->set_queue(Below(kQueues));
        cancel->set_from_value(Byte());
        break;
      }
      case 3:
        AddOpenQueue(message);
        break;
      default:
        AddBatch(message);
    }
  }
  if (Below(64) == 0) message->mutable_finish();
  if (Below(64) == 0) message->mutable_leave();
}

// The first opens queue 0, mostly.
void MessageSource::AddOpenQueue(v1::ClientMessage* message) {
  v1::OpenQueue* const open = message->add_open_queues();
  open->set_queue(sequence_ == 1 && message->open_queues_size() == 1 ? 0 : Below(kQueues + 1));
  open->set_device(Below(16) == 0 ? 1 : 0);
  open->set_kind(static_cast<v1::QueueKind>(Below(4)));
  if (Below(4) == 0) MakeRange(open->add_workers());
}

void MessageSource::AddBatch(v1::ClientMessage* message) {
  v1::Batch* const batch = message->add_batches();
  const uint32_t queue = Below(8) < 5 ? 0 : Below(kQueues);
  batch->set_queue(queue);
  const uint32_t wrong = Below(64);
  batch->set_first_value(wrong == 0 ? Byte() : sent_[queue] + 1);
  if (Below(4) == 0) {
    v1::QueuePosition* const wait = batch->add_waits();
    wait->set_queue(Below(kQueues));
    wait->set_value(sent_[wait->queue()] + (Below(32) == 0 ? 1 : 0));
  }
  if (Below(4) == 0)
    batch->set_clears_error(1 + Below(static_cast<uint32_t>(sent_[queue] % 200) + 1));
  if (Below(16) == 0) batch->set_start_within_ms(Byte());
  for (uint32_t commands = 1 + Below(6); commands > 0; --commands) {
    v1::Command* const command = batch->add_commands();
    MakeCommand(command);
    ++sent_[queue];
    const bool streamed = (command->has_write() && command->write().streamed()) ||
                          (command->has_load_kernel() && command->load_kernel().streamed());
    if (streamed) {
      streams_[queue] = sent_[queue];
      streamed_bytes_[queue] = 0;
    }
  }
}

void MessageSource::AddData(v1::ClientMessage* message) {
  v1::Data* const data = message->add_data();
  const uint32_t queue = Below(kQueues);
  const std::string payload = Bytes(Size());
  data->set_queue(queue);
  data->set_value(Below(32) == 0 ? Byte() : streams_[queue]);
  data->set_offset(Below(32) == 0 ? Size() : streamed_bytes_[queue]);
  streamed_bytes_[queue] += payload.size();
  data->set_payload(payload);
}

void MessageSource::MakeCommand(v1::Command* command) {
  const uint32_t kind = Below(16);
  if (kind < 6) {
    MakeObject(kind, command);
  } else if (kind < 11) {
    MakeTransfer(kind - 6, command);
  } else if (kind < 13) {
    MakeLaunch(command->mutable_launch());
  } else if (kind == 13) {
    v1::RecordTrace* const record = command->mutable_record_trace();
    record->set_handle(Handle());
    for (uint32_t launches = Below(4); launches > 0; --launches) MakeLaunch(record->add_launches());
    record->set_more(Below(8) == 0);
  } else if (kind == 14) {
    v1::ReplayTrace* const replay = command->mutable_replay_trace();
    replay->set_trace(Handle());
    if (Below(4) == 0) {
      v1::TracePatch* const patch = replay->add_patches();
      patch->set_launch(Below(4));
      MakeArguments(patch->mutable_arguments());
    }
  } else if (Below(8) == 0) {
    v1::LinkPlace* const end = command->mutable_connect_links()->add_connections()->mutable_a();
    end->set_device(Below(3));
    end->set_channel(Below(16));
  } else if (Below(4) != 0) {
    command->mutable_barrier();
  }
}

void MessageSource::MakeObject(uint32_t kind, v1::Command* command) {
  switch (kind) {
    case 0:
    case 1:
      MakeAllocate(command->mutable_allocate());
      break;
    case 2:
      for (uint32_t handles = Below(3); handles > 0; --handles) {
        command->mutable_free()->add_handles(Handle());
      }
      command->mutable_free();
      break;
    case 3: {
      v1::LoadKernel* const load = command->mutable_load_kernel();
      load->set_handle(Handle());
      load->set_name(Bytes(Below(16)).c_str());
      if (Below(4) == 0) load->set_sha256(Bytes(Below(2) == 0 ? 32 : Below(64)));
      const std::string elf = (Below(8) == 0 ? "no" : "elf") + Bytes(Below(64));
      load->set_size(Below(16) == 0 ? Size() : elf.size());
      if (Below(4) == 0) {
        load->set_streamed(true);
      } else if (Below(8) != 0) {
        load->set_inline_(elf);
      }
      break;
    }
    case 4:
      MakeProgram(command->mutable_create_program());
      break;
    default:
      command->mutable_barrier();
  }
}

void MessageSource::MakeTransfer(uint32_t kind, v1::Command* command) {
  if (kind <= 1) {
    v1::Write* const write = command->mutable_write();
    write->set_buffer(Handle());
    write->set_offset(Below(2) == 0 ? 0 : Size());
    write->set_size(Size());
    if (Below(2) == 0) {
      write->set_streamed(true);
    } else {
      write->set_inline_(Bytes(write->size()));
    }
  } else if (kind == 2) {
    v1::Read* const read = command->mutable_read();
    read->set_buffer(Handle());
    read->set_offset(Below(2) == 0 ? 0 : Size());
    read->set_size(Size());
  } else if (kind == 3) {
    v1::Copy* const copy = command->mutable_copy();
    copy->set_from(Handle());
    copy->set_from_offset(Below(2) == 0 ? 0 : Size());
    copy->set_to(Handle());
    copy->set_to_offset(Below(2) == 0 ? 0 : Size());
    copy->set_size(Size());
  } else {
    v1::Fill* const fill = command->mutable_fill();
    fill->set_buffer(Handle());
    fill->set_offset(Below(2) == 0 ? 0 : Size());
    fill->set_size(Size());
    fill->set_word(Byte());
  }
}

void MessageSource::MakeAllocate(v1::Allocate* allocate) {
  allocate->set_handle(Handle());
  allocate->set_size_bytes(Size());
  allocate->set_page_bytes(static_cast<uint32_t>(Size()));
  switch (Below(8)) {
    case 0:
      if (Below(2) == 0) MakeRange(allocate->mutable_l1()->add_cores());
      allocate->mutable_l1();
      break;
    case 1: {
      v1::Sharded* const sharded = allocate->mutable_l1_sharded();
      MakeRange(sharded->add_cores());
      sharded->set_row_pages(Below(5));
      sharded->set_shard_rows(Below(5));
      sharded->set_shard_row_pages(Below(5));
      break;
    }
    case 2:
      allocate->set_dram_bank(Below(6));
      break;
    case 3:
      if (Below(4) == 0) break;  // no place
      [[fallthrough]];
    default:
      allocate->mutable_dram();
  }
}

void MessageSource::MakeProgram(v1::CreateProgram* program) {
  program->set_handle(Handle());
  for (uint32_t kernels = Below(4); kernels > 0; --kernels) {
    v1::KernelUse* const use = program->add_kernels();
    use->set_kernel(Handle());
    use->set_processor(static_cast<v1::Processor>(Below(7)));
    MakeRange(use->add_cores());
  }
  if (Below(4) == 0) {
    v1::CircularBuffer* const ring = program->add_circular_buffers();
    ring->set_index(Below(40));
    ring->set_pages(Below(8));
    ring->set_page_bytes(static_cast<uint32_t>(Size()));
    MakeRange(ring->add_cores());
    ring->set_format(static_cast<v1::DataFormat>(Below(12)));
    if (Below(2) == 0) ring->set_buffer(Handle());
  }
  if (Below(4) == 0) {
    v1::Semaphore* const semaphore = program->add_semaphores();
    semaphore->set_index(Below(20));
    semaphore->set_initial(Byte());
    MakeRange(semaphore->add_cores());
  }
}

void MessageSource::MakeLaunch(v1::Launch* launch) {
  launch->set_program(Handle());
  if (Below(4) == 0) launch->set_timeout_ms(Byte());
  for (uint32_t arguments = Below(3); arguments > 0; --arguments) {
    MakeArguments(launch->add_arguments());
  }
}

void MessageSource::MakeArguments(v1::Arguments* arguments) {
  arguments->set_kernel(Below(3));
  for (uint32_t words = Below(6); words > 0; --words) arguments->add_common(Byte());
  arguments->set_words_per_core(Below(4));
  for (uint32_t words = Below(9); words > 0; --words) arguments->add_per_core(Byte());
  if (Below(2) == 0) {
    v1::BufferArgument* const buffer = arguments->add_buffers();
    buffer->set_word(Below(6));
    buffer->set_buffer(Handle());
    buffer->set_offset(Below(8) == 0 ? Size() : 0);
  }
}

// Of a grid of 4 by 10.
void MessageSource::MakeRange(v1::CoreRange* range) {
  range->set_x0(Below(5));
  range->set_y0(Below(11));
  range->set_x1(Below(16) == 0 ? Below(8) : range->x0() + Below(2));
  range->set_y1(Below(16) == 0 ? Below(16) : range->y0() + Below(3));
}

}  // namespace ttfd
