// ttfdctl system-desc.
#include "client/cli/system_desc_command.h"

#include <fmt/format.h>

#include "client/cli/device_rows.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/printing.h"
#include "ttfd/admin.h"
#include "ttfd/ttmlir/binary.h"

namespace ttfd::cli {

using client::Result;
using client::Status;

int DescribeSystem(const Common& common, const SystemDescArguments& arguments) {
  const Result<client::DeviceInfo> named = NamedDevice(common);
  if (!named.ok()) return Fail(named.status());
  const client::DeviceInfo& device = *named;
  const Status written =
      ttmlir::WriteSystemDescription(device, arguments.output, arguments.description);
  if (!written.ok()) return Fail(written);
  const Result<ttmlir::Binary> file =
      ttmlir::Binary::Load(arguments.output, {.profiles = arguments.description.profiles});
  if (!file.ok()) return Fail(file.status());
  if (common.json) {
    PrintJson({{"file", file->path()},
               {"device", device.index},
               {"profile", file->profile()},
               {"schema_hash", file->schema_hash()},
               {"git_hash", file->git_hash()},
               {"system", Json::parse(file->SystemAsJson())}});
  } else {
    PrintLine(fmt::format("{}: {}, {}x{} workers, {} DRAM banks, for profile {}", file->path(),
                          device.board, device.grid_x, device.grid_y, device.dram_banks,
                          file->profile()));
  }
  return kOk;
}

}  // namespace ttfd::cli
