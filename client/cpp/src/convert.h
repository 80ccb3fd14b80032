// Protobuf messages to the values of the public headers and back. No protobuf type is visible outside
// client/cpp/src.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "google/rpc/status.pb.h"
#include "ttfd/kernel_print.h"
#include "ttfd/resources.h"
#include "ttfd/session.h"
#include "ttfd/status.h"
#include "ttfd/trace.h"
#include "ttfd/types.h"
#include "ttfd/v1/ttfd.pb.h"
#include "ttfd/v1/types.pb.h"

namespace ttfd::client {

// The constant part of a Welcome.
struct WelcomeInfo {
  uint64_t session = 0;
  std::string daemon_version = {};
  std::vector<DeviceInfo> devices = {};
  uint32_t device = 0;  // of the session
  Limits limits = {};
  std::string lease_token = {};  // as text; empty: the session requested no lease
};

// A time as the API has it: 32 bits, so that a longer one is the longest.
inline uint32_t Milliseconds(std::chrono::milliseconds time) {
  return static_cast<uint32_t>(std::clamp<int64_t>(time.count(), 0, UINT32_MAX));
}

// A number of an enum of the API as `Enum`, which has the same numbers; 0 if it does not fit.
template <typename Enum>
Enum EnumOf(int number) {
  return number >= 0 && number <= UINT8_MAX ? static_cast<Enum>(number) : Enum{};
}

// An error with the standard details (types.proto, Errors). A status without ttfd's ErrorInfo has code
// and message only.
Status FromProto(const google::rpc::Status& status);
Status FromProto(const v1::CommandError& error);
WelcomeInfo FromProto(const v1::Welcome& welcome);
Position FromProto(const v1::QueuePosition& position);
CoreRange FromProto(const v1::CoreRange& range);
DeviceInfo FromProto(const v1::Device& device);
Limits FromProto(const v1::Limits& limits);
Priority FromProto(v1::Priority priority);
KernelPrint FromProto(const v1::KernelPrint& print);
SessionClient FromProto(const v1::SessionClient& client);
LeaseWait FromProto(const v1::LeaseWait& wait);
std::vector<SessionClient> ListFromProto(
    const google::protobuf::RepeatedPtrField<v1::SessionClient>& clients);

void ToProto(Position position, v1::QueuePosition* proto);
void ToProto(const LinkPlace& place, v1::LinkPlace* out);
void ToProto(const CoreRange& range, v1::CoreRange* proto);
v1::Priority ToProto(Priority priority);
void ToProto(const ProgramBuilder& builder, v1::CreateProgram* proto);
// Page size and place.
void ToProto(const DramOptions& options, v1::Allocate* proto);
void ToProto(const L1Options& options, v1::Allocate* proto);
void ToProto(const ShardOptions& options, v1::Allocate* proto);
void ToProto(const LaunchRequest& launch, v1::Launch* proto);
void ToProto(const ReplayRequest& replay, v1::ReplayTrace* proto);

}  // namespace ttfd::client
