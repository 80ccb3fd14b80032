// A call's request as the audit trail keeps it.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <string>

namespace ttfd {

// How much of a request is kept: a client decides how large it is.
inline constexpr size_t kAuditStringBytes = 256;
inline constexpr size_t kAuditArgumentBytes = 1024;

// `request` as a JSON object on one line, in the form of protobuf's JSON mapping with the proto's field names. Strings
// are cut to kAuditStringBytes; when the object has kAuditArgumentBytes, the fields and elements that follow are left
// out. An object from which something is missing has the key "cut" with the value true. The work is bounded by the two
// limits, whatever the size of the request. Any thread.
std::string AuditArguments(const google::protobuf::Message& request);

}  // namespace ttfd
