// Limits of sessions and of users, as ttfd.toml sets them.
#pragma once

#include <cstdint>

#include "daemon/api/priority.h"

namespace ttfd {

// Named limits of one session (types.proto, Limits); set in ttfd.toml.
struct SessionLimits {
  uint32_t message_bytes = 4 << 20;
  uint32_t chunk_bytes = 64 << 10;
  uint32_t inline_bytes = 64 << 10;
  uint32_t commands_per_batch = 4096;
  uint32_t waits_per_batch = 64;
  uint32_t queues = 16;
  uint32_t handles = 65536;
  uint64_t dram_bytes = uint64_t{16} << 30;
  uint64_t l1_bytes = 768 << 10;
  uint64_t transfer_bytes = uint64_t{4} << 30;
  uint64_t kernel_elf_bytes = 4 << 20;
  uint32_t sessions_per_user = 256;
  uint32_t client_name_bytes = 128;
  uint64_t trace_bytes = 64 << 20;
  uint32_t buffers = 65536;
  uint32_t kernels = 16384;
  uint32_t programs = 16384;
  uint64_t kernel_bytes = 256 << 20;
  // Messages nested in one message, at any depth.
  uint32_t nested_messages = 131072;
  // Bytes that the client may send ahead of what the daemon has done for it (ServerMessage.window_bytes).
  uint64_t window_bytes = 8 << 20;
  // Bytes of numbered messages that are sent ahead of the client's acks.
  uint64_t unacknowledged_bytes = 4 << 20;
  uint64_t idle_ms = 24 * 3'600'000;  // 0: no limit
  // Limits of all sessions of a user together.
  uint32_t queues_per_user = 4096;
  uint32_t handles_per_user = 1 << 20;
  uint32_t buffers_per_user = 1 << 20;
  uint32_t kernels_per_user = 262144;
  uint32_t programs_per_user = 262144;
  uint64_t dram_bytes_per_user = uint64_t{32} << 30;
  uint64_t l1_bytes_per_user = 1536 << 10;
  uint64_t trace_bytes_per_user = 512 << 20;
  uint64_t kernel_bytes_per_user = uint64_t{1} << 30;
  uint64_t window_bytes_per_user = 256
                                   << 20;  // besides LeastWindow of each session (receive_window.h)
  uint64_t unacknowledged_bytes_per_user = 64 << 20;  // besides LeastOutput of each (usage.h)
  uint64_t lease_ms = 4 * 3'600'000;                  // 0: no limit
  uint64_t lease_idle_ms = 600'000;                   // 0: no limit
  uint64_t lease_wait_ms = 24 * 3'600'000;
  uint32_t leases_per_user = 64;
  uint32_t reconnect_timeout_ms = 300'000;
  // Weight and priority that a session may request without the role admin. A greater weight takes from others.
  uint32_t weight = 1;
  Priority priority = Priority::kNormal;

  // Bounds within the daemon; not part of the API.
  uint64_t read_bytes = uint64_t{2} << 20;  // read, or being read, and not taken by the transport
  uint64_t print_bytes = 256 << 10;         // printed and not taken; beyond it the oldest go
  uint32_t begun_operations = 256;  // of one queue, that have begun and are not all on the card
};

}  // namespace ttfd
