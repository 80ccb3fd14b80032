// Checks a configuration against the machine: `ttfd --check-config` and the start of the daemon, with the same
// messages.
#pragma once

#include "daemon/options.h"
#include "runtime/base/status.h"

namespace ttfd {

// Whether what `options` names is there and usable by this process's user: groups, the files of [tls], the audit file,
// the folder of hang reports. Groups count only where the configuration names them; the default ones need not exist.
// Changes nothing on the machine. Asks the user database, which may block: before the daemon serves.
// An error begins with the place of the option (Origins::Where).
//
// Where the configuration names no folder for hang reports, sets options->hangs.folder: to the folder "hangs" in the
// service manager's state folder, else in /var/lib/ttfd if that may be written to, else in "ttfd" in the user's state
// folder; to "" (hangs are only logged) if that cannot be written to either.
Status CheckConfiguration(const Origins& origins, const StateFolders& state_folders,
                          Options* options);

}  // namespace ttfd
