#include "runtime/device/ttsim/simulator_library.h"

#include <dlfcn.h>

namespace ttfd::ttsim {
namespace {

template <typename Function>
Status Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  if (*function != nullptr) return OkStatus();
  return Error(StatusCode::kFailedPrecondition, "it has no function {}", name);
}

}  // namespace

StatusOr<SimulatorLibrary> SimulatorLibrary::Load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Error(StatusCode::kFailedPrecondition, "{}", dlerror());
  SimulatorLibrary loaded;
  const auto find = [&]() -> Status {
    RETURN_IF_ERROR(Find(library, "libttsim_set_pci_dma_mem_callbacks", &loaded.set_host_memory));
    RETURN_IF_ERROR(Find(library, "libttsim_init", &loaded.init));
    RETURN_IF_ERROR(Find(library, "libttsim_pci_config_rd32", &loaded.config_read));
    RETURN_IF_ERROR(Find(library, "libttsim_pci_mem_rd_bytes", &loaded.read));
    RETURN_IF_ERROR(Find(library, "libttsim_pci_mem_wr_bytes", &loaded.write));
    return Find(library, "libttsim_clock", &loaded.clock);
  };
  RETURN_IF_ERROR(Annotate(find(), path));
  return loaded;
}

}  // namespace ttfd::ttsim
