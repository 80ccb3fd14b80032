// The files of the TCP port's certificates, looked at before the daemon says that it listens.
#pragma once

#include <string>

#include "runtime/base/status.h"

namespace ttfd {

// Paths of PEM files.
struct TlsFiles {
  std::string certificate;  // of the daemon, with the chain up to what clients trust
  std::string key;          // of that certificate
  std::string client_ca;    // who signs the certificates of clients
};

// Detects before any handshake files that cannot be read, are no certificates, or do not belong together.
Status CheckTlsFiles(const TlsFiles& files);
// Its parts. `what`: the name of the certificate in messages.
Status CheckCertificateFile(const char* what, const std::string& path);
Status CheckKeyFile(const std::string& key_path, const std::string& certificate_path);

}  // namespace ttfd
