// Where a client connects, and under which lease: the only place of the library that looks at the environment.
#include "client/cpp/src/options.h"

#include <cstdlib>

#include "client/cpp/src/convert.h"

namespace ttfd::client {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::string DefaultAddress() {
  const std::string address = Variable("TTFD_ADDRESS");
  return !address.empty() ? address : "unix:/run/ttfd/ttfd.sock";
}

TlsOptions ResolveTls(TlsOptions tls) {
  const auto look = [](std::string* option, const char* name) {
    if (option->empty()) *option = Variable(name);
  };
  look(&tls.ca, "TTFD_TLS_CA");
  look(&tls.certificate, "TTFD_TLS_CERTIFICATE");
  look(&tls.key, "TTFD_TLS_KEY");
  look(&tls.server_name, "TTFD_TLS_SERVER_NAME");
  return tls;
}

std::string DefaultLeaseToken() {
  const char* token = std::getenv("TTFD_LEASE");
  return token != nullptr ? token : "";
}

std::string TokenText(const std::string& token) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : token) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

namespace {

// Empty: not the text of a token.
std::string TokenOf(const std::string& text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string token;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) {
      return "";
    }
    token += static_cast<char>(high * 16 + low);
  }
  return text.size() % 2 == 0 ? token : "";
}

}  // namespace

Status FillAttach(const ConnectOptions& options, v1::Hello* hello) {
  if (options.lease.has_value()) {
    if (!options.lease_token.empty()) {
      return Status(ErrorInfo{
          .code = Code::kInvalidArgument,
          .message = "a session either asks for a lease or joins one: set lease or lease_token",
          .reason = "INVALID",
          .field = "lease_token"});
    }
    v1::Lease* lease = hello->mutable_lease();
    lease->set_wait_ms(static_cast<uint32_t>(options.lease->wait.count()));
    for (const CoreRange& range : options.lease->workers) {
      ToProto(range, lease->add_workers());
    }
    return Status();
  }
  const bool given = !options.lease_token.empty();
  const std::string text = given ? options.lease_token : DefaultLeaseToken();
  if (text.empty()) {
    return Status();
  }
  const std::string token = TokenOf(text);
  if (token.empty()) {
    return Status(ErrorInfo{.code = Code::kInvalidArgument,
                            .message = std::string(given ? "lease_token" : "TTFD_LEASE") +
                                       " is no lease token: an even number of the digits 0-9a-f",
                            .reason = "INVALID",
                            .field = "lease_token"});
  }
  hello->set_lease_token(token);
  return Status();
}

std::string ResolveAddress(const std::string& address) {
  const std::string chosen = address.empty() ? DefaultAddress() : address;
  return chosen.starts_with('/') ? "unix:" + chosen : chosen;
}

}  // namespace ttfd::client
