// Protobuf messages to the values of the public headers and back. Nothing outside client/cpp/src
// sees a protobuf type.
#pragma once

#include <string>

#include "ttfd/kernel_print.h"
#include "ttfd/resources.h"
#include "ttfd/session.h"
#include "ttfd/status.h"
#include "ttfd/trace.h"
#include "ttfd/types.h"
#include "ttfd/v1/ttfd.pb.h"
#include "ttfd/v1/types.pb.h"

namespace ttfd::client {

Status FromProto(const v1::Error& error);
Position FromProto(const v1::QueuePosition& position);
DeviceInfo FromProto(const v1::Device& device);
Limits FromProto(const v1::Limits& limits);
Priority FromProto(v1::Priority priority);
v1::Priority ToProto(Priority priority);
KernelPrint FromProto(const v1::KernelPrint& print);

void ToProto(const CoreRange& range, v1::CoreRange* proto);
void ToProto(const ProgramBuilder& builder, v1::CreateProgram* proto);
void ToProto(const LaunchRequest& launch, v1::Launch* proto);
void ToProto(const ReplayRequest& replay, v1::ReplayTrace* proto);

// Bytes it takes in a message, never too few.
size_t EncodedBytes(const LaunchRequest& launch);
size_t EncodedBytes(const ReplayRequest& replay);

}  // namespace ttfd::client
