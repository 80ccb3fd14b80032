// Encoded messages of a client out of arbitrary bytes: as they came over the wire, or made of choices so that most are
// nearly right and get far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ttfd/v1/ttfd.pb.h"

namespace ttfd {

class MessageSource {
 public:
  // The first byte says which: odd, messages of two bytes of length each; even, choices.
  explicit MessageSource(std::span<const uint8_t> bytes);

  // Nothing: the bytes are used up.
  std::optional<std::string> Next();

 private:
  uint8_t Byte();
  uint32_t Below(uint32_t end) { return Byte() % end; }
  uint64_t Handle() { return Below(8); }
  uint64_t Size();  // small, round, odd, huge
  std::string Bytes(size_t count);

  std::string NextFromWire();
  void NextFromChoices(v1::ClientMessage* message);
  void AddOpenQueue(v1::ClientMessage* message);
  void AddBatch(v1::ClientMessage* message);
  void AddData(v1::ClientMessage* message);
  void MakeCommand(v1::Command* command);
  void MakeObject(uint32_t kind, v1::Command* command);
  void MakeTransfer(uint32_t kind, v1::Command* command);
  void MakeAllocate(v1::Allocate* allocate);
  void MakeProgram(v1::CreateProgram* program);
  void MakeLaunch(v1::Launch* launch);
  void MakeArguments(v1::Arguments* arguments);
  void MakeRange(v1::CoreRange* range);

  std::span<const uint8_t> bytes_;
  bool from_wire_ = false;
  bool greeted_ = false;
  uint64_t sequence_ = 0;
  uint64_t sent_[4] = {};            // values of the first queues, so that most batches follow on
  uint64_t streams_[4] = {};         // value of the newest streamed command of each
  uint64_t streamed_bytes_[4] = {};  // and how far its data is
};

}  // namespace ttfd
