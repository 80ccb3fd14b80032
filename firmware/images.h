// The firmware that is built into the daemon: one flat image a hart.
//
// An image is written at its load address, which is also its entry: BRISC gets there by the JAL at
// L1[0], the other harts by their reset PC. The same images run on the device model, on ttsim and on
// silicon. Their ELF files are beside the build in firmware/images/; what they know of symbols and lines
// is built in, too.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/abi/boot_block.h"
#include "runtime/base/bytes.h"
#include "runtime/hw/tensix.h"

namespace ttfd {

struct FirmwareImage {
  std::string_view name;      // "worker_brisc"
  abi::Role role;             // of the tile
  hw::Hart hart;              // which of the tile's harts
  uint32_t load_address;      // and entry; abi::kFirmwareAddress[hart]
  uint32_t protocol_version;  // the stamp in the image
  ByteSpan bytes;             // a multiple of 16, at most abi::kFirmwareBytes[hart]
  ByteSpan names;             // an ELF file with symbols and debug information, without the code
};

// All images: the five harts of a worker, then prefetch BRISC, dispatch BRISC, dispatch NCRISC.
std::span<const FirmwareImage> FirmwareImages();

// The same sources at -Os (library firmware_images_small), for tests.
std::span<const FirmwareImage> FirmwareImagesSmall();

// The part of `images` for tiles of one role, BRISC first.
inline std::span<const FirmwareImage> ImagesOfRole(std::span<const FirmwareImage> images,
                                                   abi::Role role) {
  size_t first = 0;
  while (first != images.size() && images[first].role != role) {
    ++first;
  }
  size_t last = first;
  while (last != images.size() && images[last].role == role) {
    ++last;
  }
  return images.subspan(first, last - first);
}

}  // namespace ttfd
