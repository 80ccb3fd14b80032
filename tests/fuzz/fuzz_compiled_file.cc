// Fuzz target: any bytes as a file of tt-mlir are refused, or listed and planned as a whole, in bounded memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "client/ttmlir/src/executable.h"
#include "client/ttmlir/src/file.h"
#include "client/ttmlir/src/json.h"
#include "client/ttmlir/src/listing.h"
#include "client/ttmlir/src/metal_plan.h"

namespace {

constexpr size_t kMaxHeapBytes = size_t{64} << 20;  // beyond what was in use before
constexpr uint32_t kMaxPlanned = 8;
size_t heap_bytes = 0;
size_t heap_limit = SIZE_MAX;

}  // namespace

// Counts what is in use: each block begins with its size.
void* operator new(size_t size) {
  constexpr size_t kHead = alignof(std::max_align_t);
  heap_bytes += size;
  if (heap_bytes > heap_limit) std::abort();
  auto* const block = static_cast<char*>(std::malloc(size + kHead));
  if (block == nullptr) std::abort();
  *reinterpret_cast<size_t*>(block) = size;
  return block + kHead;
}

void operator delete(void* at) noexcept {
  if (at == nullptr) return;
  char* const block = static_cast<char*>(at) - alignof(std::max_align_t);
  heap_bytes -= *reinterpret_cast<size_t*>(block);
  std::free(block);
}

void operator delete(void* at, size_t) noexcept { operator delete(at); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using ttfd::ttmlir::Record;
  static ttfd::ttmlir::Profiles profiles(TTFD_PROFILES);
  auto file = ttfd::ttmlir::OpenFile({data, size}, &profiles);  // reads the profile, which stays
  if (!file.ok()) return 0;
  heap_limit = heap_bytes + kMaxHeapBytes;
  size_t written = 0;
  ttfd::ttmlir::WriteJsonOf(file->root,
                            [&written](std::string_view part) { written += part.size(); });
  const ttfd::ttmlir::List programs = file->root.Items("programs");
  for (uint32_t i = 0; i < programs.size(); ++i) {
    const Record program = programs.Child(i);
    ttfd::ttmlir::ListProgram(program, file->root.Items("dylibs"));
    ttfd::ttmlir::ListOperations(program);
    ttfd::ttmlir::ListKernels(program);
  }
  if (file->kind == ttfd::ttmlir::Kind::kTtnn) {
    const ttfd::ttmlir::Executable executable(*file);
    for (uint32_t i = 0; i < programs.size() && i < kMaxPlanned; ++i) {
      executable.ProblemsOf(i, /*allow_native=*/false);
    }
  }
  if (file->kind == ttfd::ttmlir::Kind::kTtMetal) {
    for (uint32_t i = 0; i < programs.size() && i < kMaxPlanned; ++i) {
      ttfd::ttmlir::MetalPlanOf(programs.Child(i), file->root.Items("dylibs"));
    }
  }
  heap_limit = SIZE_MAX;
  if (written < 2) std::abort();
  return 0;
}
