// One debugger's conversation: packets in, replies out.
//
// Source: the appendix "GDB Remote Serial Protocol" of GDB's manual. What is not known is answered with an
// empty packet, as it asks for. Numbers of threads are those of DebugTarget. Device thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/debug/debug_target.h"

namespace ttfd::debug {

class GdbSession {
 public:
  // Answers to "monitor WORDS"; text for the user.
  using Monitor = std::function<std::string(std::string_view words)>;

  // `target` outlives the session. `send` gets the data of replies. `monitor` may be empty.
  GdbSession(DebugTarget& target, std::function<void(std::string_view data)> send, Monitor monitor);

  void Handle(std::string_view packet);
  void Interrupt();
  // To be called after the chip ran: tells GDB if it stopped.
  void TellStop();

  bool acknowledges() const { return acknowledges_; }
  bool ended() const { return ended_; }  // detached or killed

 private:
  // The simple ones answer with what they return.
  std::string Answer(char command, std::string_view rest);
  std::string Query(std::string_view packet);
  std::string Transfer(std::string_view rest);
  std::string SetGeneral(std::string_view packet);
  std::string ChooseThread(std::string_view rest);
  std::string ReadRegisters() const;
  std::string WriteRegisters(std::string_view rest);
  std::string ReadRegister(std::string_view rest) const;
  std::string WriteRegister(std::string_view rest);
  std::string ReadMemory(std::string_view rest);
  std::string WriteMemory(std::string_view rest, bool binary);
  std::string Point(std::string_view rest, bool set);
  std::string RunMonitor(std::string_view hex);

  // gdb_resume_packets.cc
  bool HandleResume(std::string_view packet);
  bool HandleMultiResume(std::string_view actions);
  void Resume(std::span<const DebugTarget::Order> orders);
  std::string StopReply(const Stop& stop);

  Thread Chosen() const;

  DebugTarget& target_;
  const std::function<void(std::string_view)> send_;
  const Monitor monitor_;
  bool acknowledges_ = true;
  bool ended_ = false;
  Thread general_ = 0;    // of Hg: whose registers and memory
  Thread continued_ = 0;  // of Hc: whom c and s mean; 0: everybody
  Stop stop_;             // the last one
  std::string threads_;   // the document GDB is reading, as of its first part
};

// A thread as GDB writes it: hexadecimal, "-1" and "0" for all and any (0). Nothing: neither.
std::optional<Thread> ParseThread(std::string_view text);

}  // namespace ttfd::debug
