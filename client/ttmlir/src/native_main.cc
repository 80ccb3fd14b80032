// ttfd-native: runs one function of native code that a compiled program brings, with limits on time and memory.
//
// libttfd_ttmlir starts it (native.h) with one file in memory as descriptor 3 and nothing else. A function takes an
// array of inputs and returns an array of outputs, each described as the compiler's memory references are: two
// pointers, an offset, and sizes followed by strides, in elements. The code has the rights of its user: limits are no
// sandbox.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "client/ttmlir/src/native_request.h"

namespace ttfd::ttmlir {
namespace {

struct Reference {
  void* start;
  void* aligned;
  int64_t offset;
  int64_t* sizes_and_strides;
};

using Function = Reference* (*)(Reference* inputs);

constexpr uint64_t kElementBytes = 4;
constexpr uint64_t kProcessBytes = uint64_t{64}
                                   << 20;  // what the process maps before anything of the code

void Limit(int resource, uint64_t most) {
  const rlimit limit = {most, most};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

struct Mapped {
  std::byte* bytes = nullptr;
  const NativeRequest* request = nullptr;
  const NativeTensor* tensors = nullptr;
};

bool MapRequest(Mapped* mapped) {
  struct stat status = {};
  if (fstat(kNativeFile, &status) != 0) return false;
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size < sizeof(NativeRequest)) return false;
  void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, kNativeFile, 0);
  if (at == MAP_FAILED) return false;
  mapped->bytes = static_cast<std::byte*>(at);
  mapped->request = static_cast<const NativeRequest*>(at);
  mapped->tensors = reinterpret_cast<const NativeTensor*>(mapped->bytes + sizeof(NativeRequest));
  return mapped->request->total_bytes == size;
}

void SetLimits(const NativeRequest& request) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_CPU, request.seconds);
  Limit(RLIMIT_NPROC, 0);
  Limit(RLIMIT_AS,
        kProcessBytes + request.memory_bytes + request.total_bytes + 2 * request.code_bytes);
}

void* LoadCode(const Mapped& mapped) {
  const int file = memfd_create("native", MFD_CLOEXEC);
  const std::byte* const code = mapped.bytes + mapped.request->code_offset;
  const auto size = static_cast<ssize_t>(mapped.request->code_bytes);
  if (file < 0 || write(file, code, mapped.request->code_bytes) != size) return nullptr;
  return dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Copies the elements of an output, which need not be dense, to its place.
void Copy(const Reference& from, const NativeTensor& tensor, std::byte* to) {
  const auto* const strides = from.sizes_and_strides + tensor.rank;
  std::vector<int64_t> at(tensor.rank);
  uint64_t elements = 1;
  for (uint32_t i = 0; i < tensor.rank; ++i) elements *= static_cast<uint64_t>(tensor.sizes[i]);
  for (uint64_t n = 0; n < elements; ++n) {
    int64_t element = from.offset;
    for (uint32_t i = 0; i < tensor.rank; ++i) element += at[i] * strides[i];
    const auto* const source = static_cast<const std::byte*>(from.aligned);
    std::memcpy(to + n * kElementBytes, source + element * int64_t{kElementBytes}, kElementBytes);
    for (uint32_t i = tensor.rank; i-- > 0 && ++at[i] == tensor.sizes[i];) at[i] = 0;
  }
}

bool HasSizes(const Reference& made, const NativeTensor& tensor) {
  return std::memcmp(made.sizes_and_strides, tensor.sizes, tensor.rank * sizeof(int64_t)) == 0;
}

int Main() {
  Mapped mapped;
  if (!MapRequest(&mapped)) return kNativeBadRequest;
  const NativeRequest& request = *mapped.request;
  SetLimits(request);
  void* const code = LoadCode(mapped);
  if (code == nullptr) return kNativeNotLoaded;
  const auto function = reinterpret_cast<Function>(dlsym(code, request.function));
  if (function == nullptr) return kNativeNoFunction;
  std::vector<std::vector<int64_t>> shapes(request.inputs);
  std::vector<Reference> inputs;
  for (uint32_t i = 0; i < request.inputs; ++i) {
    const NativeTensor& tensor = mapped.tensors[i];
    std::vector<int64_t>& shape = shapes[i];
    shape.assign(tensor.sizes, tensor.sizes + tensor.rank);
    shape.resize(size_t{2} * tensor.rank);
    int64_t stride = 1;
    for (uint32_t d = tensor.rank; d-- > 0; stride *= tensor.sizes[d]) {
      shape[tensor.rank + d] = stride;
    }
    void* const at = mapped.bytes + tensor.offset;
    inputs.push_back({at, at, 0, shape.data()});
  }
  const Reference* const made = function(inputs.data());
  for (uint32_t i = 0; i < request.outputs; ++i) {
    const NativeTensor& tensor = mapped.tensors[request.inputs + i];
    const Reference& output = request.returns_outputs != 0 ? made[i] : inputs.back();
    if (!HasSizes(output, tensor)) return kNativeBadOutput;
    Copy(output, tensor, mapped.bytes + tensor.offset);
  }
  return kNativeDone;
}

}  // namespace
}  // namespace ttfd::ttmlir

int main() { _exit(ttfd::ttmlir::Main()); }
