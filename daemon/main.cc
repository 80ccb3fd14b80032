// ttfd.
#include "daemon/run_daemon.h"
#include "runtime/device/kmd/linux_system.h"

int main(int argc, char** argv) { return ttfd::RunDaemon(argc, argv, ttfd::kmd::LinuxSystem()); }
