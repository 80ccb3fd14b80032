// SHA-256 by libcrypto.
#include "daemon/session/sha256.h"

#include <openssl/evp.h>

namespace ttfd {

std::string Sha256(std::string_view bytes) {
  std::string digest(kSha256Bytes, '\0');
  unsigned int size = 0;
  // The one-shot call fails only without memory or without the algorithm; an empty digest then
  // matches nothing.
  if (EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                 EVP_sha256(), nullptr) != 1) {
    digest.clear();
  }
  return digest;
}

}  // namespace ttfd
