// Comparing secrets, by libcrypto.
#include "daemon/session/secret.h"

#include <openssl/crypto.h>

namespace ttfd {

bool SameSecret(std::string_view given, std::string_view secret) {
  if (secret.empty() || given.size() != secret.size()) return false;
  return CRYPTO_memcmp(given.data(), secret.data(), secret.size()) == 0;
}

}  // namespace ttfd
