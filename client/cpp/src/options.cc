// ConnectOptions as an address, certificates and a Hello. The only file of the library that reads the
// environment.
#include "client/cpp/src/options.h"

#include <charconv>
#include <cstdlib>
#include <utility>

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
  const auto fill = [](std::string* option, const char* name) {
    if (option->empty()) {
      *option = Variable(name);
    }
  };
  fill(&tls.ca, "TTFD_TLS_CA");
  fill(&tls.certificate, "TTFD_TLS_CERTIFICATE");
  fill(&tls.key, "TTFD_TLS_KEY");
  fill(&tls.server_name, "TTFD_TLS_SERVER_NAME");
  return tls;
}

std::string DefaultLeaseToken() { return Variable("TTFD_LEASE"); }

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

// Empty: `text` is not a token in hexadecimal digits.
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

Status InvalidLease(std::string message) {
  return Status(ErrorInfo{.code = Code::kInvalidArgument,
                          .message = std::move(message),
                          .reason = "INVALID",
                          .field = "lease_token"});
}

Status FillAttach(const ConnectOptions& options, v1::Hello* hello) {
  if (options.lease.has_value()) {
    if (!options.lease_token.empty()) {
      return InvalidLease(
          "both lease and lease_token are set; a session requests or joins a lease");
    }
    v1::Lease* lease = hello->mutable_lease();
    if (options.lease->wait) {
      lease->set_wait_ms(Milliseconds(*options.lease->wait));
    }
    for (const uint32_t device : options.lease->devices) {
      lease->add_devices(device);
    }
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
    return InvalidLease(std::string(given ? "lease_token" : "TTFD_LEASE") +
                        " is no lease token: an even number of the digits 0-9a-f");
  }
  hello->set_lease_token(token);
  return Status();
}

Status FillDevice(const ConnectOptions& options, v1::Hello* hello) {
  const std::string text = Variable("TTFD_DEVICE");
  if (options.device) {
    hello->set_device(*options.device);
  } else if (!text.empty()) {
    uint32_t device = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), device);
    if (error != std::errc() || end != text.data() + text.size()) {
      return Status(
          ErrorInfo{.code = Code::kInvalidArgument,
                    .message = "TTFD_DEVICE is '" + text + "'; the index of a device is needed",
                    .reason = "INVALID",
                    .field = "device"});
    }
    hello->set_device(device);
  }
  return Status();
}

}  // namespace

Status FillHello(const ConnectOptions& options, v1::Hello* hello) {
  hello->set_min_revision(kRevision);
  hello->set_max_revision(kRevision);
  hello->set_client_name(options.client_name);
  if (Status status = FillDevice(options, hello); !status.ok()) return status;
  hello->set_weight(options.weight);
  hello->set_priority(ToProto(options.priority));
  hello->set_reconnect_timeout_ms(Milliseconds(options.reconnect_timeout));
  return FillAttach(options, hello);
}

std::string ResolveAddress(const std::string& address) {
  const std::string chosen = address.empty() ? DefaultAddress() : address;
  return chosen.starts_with('/') ? "unix:" + chosen : chosen;
}

}  // namespace ttfd::client
