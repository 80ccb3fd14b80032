// The table of embedded images. Compiled once a variant: TTFD_IMAGES names the function,
// TTFD_IMAGE_SYMBOL the prefix of the symbols in embedded_images.S.
#include "firmware/images.h"

#include <array>

#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"

#define TTFD_PASTE_INNER(a, b) a##b
#define TTFD_PASTE(a, b) TTFD_PASTE_INNER(a, b)
#define TTFD_BEGIN(name) TTFD_PASTE(TTFD_IMAGE_SYMBOL, _##name##_begin)
#define TTFD_END(name) TTFD_PASTE(TTFD_IMAGE_SYMBOL, _##name##_end)
#define TTFD_DECLARE(name)                           \
  extern const std::byte TTFD_BEGIN(name)[];         \
  extern const std::byte TTFD_END(name)[];           \
  extern const std::byte TTFD_BEGIN(name##_names)[]; \
  extern const std::byte TTFD_END(name##_names)[];

extern "C" {
TTFD_DECLARE(worker_brisc)
TTFD_DECLARE(worker_ncrisc)
TTFD_DECLARE(worker_trisc0)
TTFD_DECLARE(worker_trisc1)
TTFD_DECLARE(worker_trisc2)
TTFD_DECLARE(prefetch_brisc)
TTFD_DECLARE(dispatch_brisc)
TTFD_DECLARE(dispatch_ncrisc)
}

namespace ttfd {
namespace {

// The link command lines in firmware/CMakeLists.txt repeat the map of runtime/abi/l1_map.h.
static_assert(abi::kFirmwareAddress[hw::kBrisc] == 0x1000 &&
              abi::kFirmwareBytes[hw::kBrisc] == 0x4000);
static_assert(abi::kFirmwareAddress[hw::kNcrisc] == 0x5000 &&
              abi::kFirmwareBytes[hw::kNcrisc] == 0x2000);
static_assert(abi::kFirmwareAddress[hw::kTrisc0] == 0x7000 &&
              abi::kFirmwareBytes[hw::kTrisc0] == 0x800);
static_assert(abi::kFirmwareAddress[hw::kTrisc1] == 0x7800 &&
              abi::kFirmwareBytes[hw::kTrisc1] == 0x800);
static_assert(abi::kFirmwareAddress[hw::kTrisc2] == 0x8000 &&
              abi::kFirmwareBytes[hw::kTrisc2] == 0x800);

FirmwareImage MakeImage(std::string_view name, abi::Role role, hw::Hart hart,
                        const std::byte* begin, const std::byte* end, ByteSpan names) {
  // Word 0 jumps over the stamp: magic, protocol version (firmware/common/stamp.cc).
  const ByteSpan bytes(begin, end);
  const bool stamped = bytes.size() >= 12 && LoadAt<uint32_t>(begin + 4) == abi::kMagic;
  return {name,  role, hart, abi::kFirmwareAddress[hart], stamped ? LoadAt<uint32_t>(begin + 8) : 0,
          bytes, names};
}

}  // namespace

#define TTFD_IMAGE(name, role, hart)                                      \
  MakeImage(#name, abi::role, hw::hart, TTFD_BEGIN(name), TTFD_END(name), \
            ByteSpan(TTFD_BEGIN(name##_names), TTFD_END(name##_names)))

std::span<const FirmwareImage> TTFD_IMAGES() {
  static const std::array<FirmwareImage, 8> images = {
      TTFD_IMAGE(worker_brisc, kRoleWorker, kBrisc),
      TTFD_IMAGE(worker_ncrisc, kRoleWorker, kNcrisc),
      TTFD_IMAGE(worker_trisc0, kRoleWorker, kTrisc0),
      TTFD_IMAGE(worker_trisc1, kRoleWorker, kTrisc1),
      TTFD_IMAGE(worker_trisc2, kRoleWorker, kTrisc2),
      TTFD_IMAGE(prefetch_brisc, kRolePrefetch, kBrisc),
      TTFD_IMAGE(dispatch_brisc, kRoleDispatch, kBrisc),
      TTFD_IMAGE(dispatch_ncrisc, kRoleDispatch, kNcrisc),
  };
  return images;
}

}  // namespace ttfd
