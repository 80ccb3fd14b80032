// The description of a card for the tt-mlir compiler: a file of kind system description (.ttsys), so that it compiles
// programs for the card that a daemon serves. docs/compiled-programs.md says where each field comes from.
//
//   #include <ttfd/admin.h>
//   #include <ttfd/ttmlir/system_description.h>
//
//   #include <iostream>
//
//   int main() {
//     const auto devices = ttfd::client::Admin::Connect("").ListDevices();
//     if (!devices.ok() || devices->empty()) return 1;
//     const auto status = ttfd::ttmlir::WriteSystemDescription(devices->front(), "card.ttsys");
//     std::cout << status.ToString() << "\n";
//     return status.ok() ? 0 : 1;
//   }
#pragma once

#include <string>

#include "ttfd/status.h"
#include "ttfd/types.h"

namespace ttfd::ttmlir {

struct DescriptionOptions {
  // The folder of profiles; empty: share/ttfd/ttmlir of this installation.
  std::string profiles = {};
  // First digits of the hash of the schema, of 2024 those of the compiler's commit; empty: the newest that is known.
  std::string schema = {};
};

// The bytes of the file. FAILED_PRECONDITION: `device` comes from a daemon that does not report where its workers and
// banks lie. NOT_FOUND: there is no profile of the schema; names those there are. INVALID_ARGUMENT: `schema` stands
// for several, or the profile is damaged. UNIMPLEMENTED: the schema has a field that this library does not know.
client::Result<std::string> DescribeSystem(const client::DeviceInfo& device,
                                           const DescriptionOptions& options = {});

// Writes it to a file, which is replaced as a whole or stays as it is. INVALID_ARGUMENT also: `path` is there and no
// regular file. UNKNOWN: it cannot be written; names the reason.
client::Status WriteSystemDescription(const client::DeviceInfo& device, const std::string& path,
                                      const DescriptionOptions& options = {});

}  // namespace ttfd::ttmlir
