// OpenSSL reads them as gRPC will.
#include "daemon/rpc/tls_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace ttfd {
namespace {

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using File = std::unique_ptr<FILE, CloseFile>;
using Certificate = std::unique_ptr<X509, FreeCertificate>;

Status Unreadable(const char* what, const std::string& path) {
  return Error(StatusCode::kFailedPrecondition, "cannot read the {} {}: {}", what, path,
               std::strerror(errno));
}

StatusOr<Certificate> ReadCertificate(const char* what, const std::string& path) {
  const File file(fopen(path.c_str(), "re"));
  if (file == nullptr) return Unreadable(what, path);
  Certificate certificate(PEM_read_X509(file.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (certificate == nullptr) {
    return Error(StatusCode::kFailedPrecondition, "the {} {} holds no certificate in PEM form",
                 what, path);
  }
  return certificate;
}

// An encrypted key would have OpenSSL ask at the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

}  // namespace

Status CheckCertificateFile(const char* what, const std::string& path) {
  return ReadCertificate(what, path).status();
}

Status CheckKeyFile(const std::string& key_path, const std::string& certificate_path) {
  ASSIGN_OR_RETURN(const Certificate certificate, ReadCertificate("certificate", certificate_path));
  const File file(fopen(key_path.c_str(), "re"));
  if (file == nullptr) return Unreadable("key", key_path);
  const std::unique_ptr<EVP_PKEY, FreeKey> key(
      PEM_read_PrivateKey(file.get(), nullptr, &NoPassword, nullptr));
  const bool match = key != nullptr && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (key == nullptr) {
    return Error(StatusCode::kFailedPrecondition,
                 "the key {} holds no private key in PEM form, or an encrypted one", key_path);
  }
  if (!match) {
    return Error(StatusCode::kFailedPrecondition, "the key {} is not that of the certificate {}",
                 key_path, certificate_path);
  }
  return OkStatus();
}

Status CheckTlsFiles(const TlsFiles& files) {
  RETURN_IF_ERROR(CheckCertificateFile("certificate", files.certificate));
  RETURN_IF_ERROR(CheckCertificateFile("client CA", files.client_ca));
  return CheckKeyFile(files.key, files.certificate);
}

}  // namespace ttfd
