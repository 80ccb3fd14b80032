// Reads files in the format safetensors.
#include "ttfd/tensor/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "client/tensor/src/error.h"

namespace ttfd::tensor {
namespace {

using Json = nlohmann::json;
using Entry = Safetensors::Entry;

constexpr uint64_t kLengthBytes = 8;  // of the header's length
constexpr const char* kMetadata = "__metadata__";

struct Type {
  std::string_view name;
  uint32_t bytes;
};
constexpr Type kTypes[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
                           {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"F8_E8M0", 1},
                           {"I32", 4},  {"U32", 4}, {"F32", 4}, {"I64", 8},     {"U64", 8},
                           {"F64", 8},  {"C64", 8}};

// 0: there is no such type.
uint32_t BytesOf(std::string_view dtype) {
  const auto found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [dtype](const Type& type) { return type.name == dtype; });
  return found == std::end(kTypes) ? 0 : found->bytes;
}

// Bytes of a file; none: it is not a regular file.
std::optional<uint64_t> SizeOf(int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(info.st_size);
}

// False: not all of them can be read.
bool ReadBytes(int fd, uint64_t offset, std::span<char> into) {
  while (!into.empty()) {
    const ssize_t count = pread(fd, into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    offset += static_cast<uint64_t>(count);
    into = into.subspan(static_cast<size_t>(count));
  }
  return true;
}

// Product of the extents. None: that of the extents that are not 0 exceeds 2^62.
std::optional<uint64_t> ElementsOf(const std::vector<uint64_t>& shape) {
  constexpr uint64_t kLimit = uint64_t{1} << 62;
  uint64_t elements = 1;
  for (const uint64_t extent : shape) {
    if (extent != 0 && elements > kLimit / extent) return std::nullopt;
    elements *= std::max<uint64_t>(extent, 1);
  }
  return std::count(shape.begin(), shape.end(), 0) == 0 ? elements : 0;
}

bool AreNumbers(const Json& list) {
  return list.is_array() && std::all_of(list.begin(), list.end(),
                                        [](const Json& one) { return one.is_number_unsigned(); });
}

// The tensor `name` in a file of `data_bytes` after the header; its offset is that from there.
Result<Entry> EntryOf(const std::string& name, const Json& value, uint64_t data_bytes) {
  const auto wrong = [&name](const std::string& what) {
    return Invalid("path", "tensor " + Json(name).dump() + " " + what);
  };
  if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() ||
      !value.contains("shape") || !AreNumbers(value["shape"]) || !value.contains("data_offsets") ||
      !AreNumbers(value["data_offsets"]) || value["data_offsets"].size() != 2) {
    return wrong("does not have a dtype, a shape and two data_offsets");
  }
  Entry entry = {.name = name,
                 .dtype = value["dtype"].get<std::string>(),
                 .shape = value["shape"].get<std::vector<uint64_t>>()};
  if (entry.shape.size() > Safetensors::kMaxRank) {
    return wrong("has " + std::to_string(entry.shape.size()) + " extents; at most 32 are allowed");
  }
  const uint32_t bytes = BytesOf(entry.dtype);
  if (bytes == 0) return wrong("has the unknown dtype " + Json(entry.dtype).dump());
  const auto begin = value["data_offsets"][0].get<uint64_t>();
  const auto end = value["data_offsets"][1].get<uint64_t>();
  if (begin > end || end > data_bytes) return wrong("lies outside of the file");
  const std::optional<uint64_t> elements = ElementsOf(entry.shape);
  if (!elements || *elements != (end - begin) / bytes || (end - begin) % bytes != 0) {
    return wrong("has " + std::to_string(end - begin) + " bytes, which are not those of its shape");
  }
  entry.elements = *elements;
  entry.offset = begin;
  entry.size_bytes = end - begin;
  return entry;
}

// Error unless the entries are all bytes after the header, each once.
Status CheckCover(std::vector<Entry> entries, uint64_t data_bytes) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.offset, a.size_bytes) < std::pair(b.offset, b.size_bytes);
  });
  uint64_t next = 0;
  for (const Entry& entry : entries) {
    if (entry.offset != next) {
      return Invalid("path", "tensor " + Json(entry.name).dump() + " begins at byte " +
                                 std::to_string(entry.offset) + ", the one before it ends at " +
                                 std::to_string(next));
    }
    next += entry.size_bytes;
  }
  if (next == data_bytes) return Status();
  return Invalid("path", "the tensors end at byte " + std::to_string(next) + " of " +
                             std::to_string(data_bytes));
}

bool AreTexts(const Json& object) {
  return object.is_object() &&
         std::all_of(object.begin(), object.end(), [](const Json& one) { return one.is_string(); });
}

// The object that a header is; anything else: it is none, or has a name twice.
Json ParseHeader(std::string_view header) {
  std::set<std::string> names[2];  // of the header, and of the object in it that is read
  bool is_unique = true;
  const auto note = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event != Json::parse_event_t::key || depth > 2) return true;
    if (depth == 1) names[1].clear();
    is_unique &= names[depth - 1].insert(parsed.get<std::string>()).second;
    return true;
  };
  if (!header.starts_with('{')) return {};
  Json json = Json::parse(header, note, /*allow_exceptions=*/false);
  if (!is_unique) json = {};
  return json;
}

// By name.
Result<std::vector<Entry>> EntriesOf(std::string_view header, uint64_t data_bytes) {
  const Json json = ParseHeader(header);
  if (!json.is_object()) {
    return Invalid("path", "the header is no JSON object in which each name is there once");
  }
  std::vector<Entry> entries;
  for (const auto& [name, value] : json.items()) {
    if (name == kMetadata) {
      if (AreTexts(value)) continue;
      return Invalid("path", "__metadata__ is no object of strings");
    }
    Result<Entry> entry = EntryOf(name, value, data_bytes);
    if (!entry.ok()) return entry.status();
    entries.push_back(std::move(*entry));
  }
  if (Status status = CheckCover(entries, data_bytes); !status.ok()) return status;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

float FromHalf(uint16_t half) {
  const uint32_t sign = uint32_t{half} >> 15 << 31, exponent = half >> 10 & 0x1Fu,
                 mantissa = half & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | mantissa << 13);
  // As if the exponent had the bias of 32 bits; below the normal numbers the difference to 2^-14 is exact.
  const uint32_t bits = (exponent + 112) << 23 | mantissa << 13;
  const float magnitude =
      exponent == 0 ? std::bit_cast<float>(bits + (1u << 23)) - std::bit_cast<float>(113u << 23)
                    : std::bit_cast<float>(bits);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

uint16_t HalfAt(std::span<const char> bytes, size_t i) {
  uint16_t half = 0;
  std::memcpy(&half, bytes.data() + 2 * i, sizeof(half));
  return half;
}

}  // namespace

class Safetensors::State {
 public:
  State(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~State() { close(fd_); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Status ReadHeader() {
    const std::optional<uint64_t> size = SizeOf(fd_);
    if (!size) return Invalid("path", "it is not a regular file");
    if (*size < kLengthBytes) return Invalid("path", "it has fewer than 8 bytes");
    uint64_t length = 0;
    static_assert(std::endian::native == std::endian::little);
    if (!ReadBytes(fd_, 0, {reinterpret_cast<char*>(&length), kLengthBytes})) return Unreadable();
    if (length > kMaxHeaderBytes || length > *size - kLengthBytes) {
      return Invalid("path", "the header would have " + std::to_string(length) +
                                 " bytes; the file has " + std::to_string(*size) +
                                 ", and 100,000,000 are the most");
    }
    std::string header(length, '\0');
    if (!ReadBytes(fd_, kLengthBytes, header)) return Unreadable();
    const uint64_t begin = kLengthBytes + length;
    Result<std::vector<Entry>> entries = EntriesOf(header, *size - begin);
    if (!entries.ok()) return entries.status();
    for (Entry& entry : *entries) entry.offset += begin;
    entries_ = std::move(*entries);
    return Status();
  }

  std::span<const Entry> entries() const { return entries_; }

  static Status CheckReadable(const Entry& entry) {
    if (entry.dtype == "F32" || entry.dtype == "F16" || entry.dtype == "BF16") return Status();
    return Invalid("entry", "tensor " + Json(entry.name).dump() + " is " + entry.dtype +
                                "; it must be F32, F16 or BF16");
  }

  Status Read(const Entry& entry, std::span<float> elements) const {
    if (Status status = CheckReadable(entry); !status.ok()) return status;
    if (elements.size() != entry.elements) {
      return Invalid("elements", "tensor " + Json(entry.name).dump() + " has " +
                                     std::to_string(entry.elements) + " elements, not " +
                                     std::to_string(elements.size()));
    }
    const std::span<char> bytes(reinterpret_cast<char*>(elements.data()), entry.size_bytes);
    if (!ReadBytes(fd_, entry.offset, bytes)) return Unreadable();
    if (entry.dtype == "F32") return Status();
    const bool is_half = entry.dtype == "F16";
    for (size_t i = elements.size(); i-- != 0;) {  // halves lie below the numbers they become
      const uint16_t half = HalfAt(bytes, i);
      elements[i] = is_half ? FromHalf(half) : std::bit_cast<float>(uint32_t{half} << 16);
    }
    return Status();
  }

 private:
  Status Unreadable() const {
    return Status(Code::kUnavailable, path_ + ": the file cannot be read any more");
  }

  std::string path_;
  const int fd_;
  std::vector<Entry> entries_;
};

Result<Safetensors> Safetensors::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const Code code = errno == EACCES                       ? Code::kPermissionDenied
                      : errno == ENOENT || errno == ENOTDIR ? Code::kNotFound
                                                            : Code::kUnavailable;
    return Status(code, path + ": " + std::strerror(errno));
  }
  auto state = std::make_shared<State>(path, fd);
  const Status status = state->ReadHeader();
  if (status.code() == Code::kInvalidArgument) {
    return Invalid("path", path + ": " + status.message());
  }
  if (!status.ok()) return status;
  return Safetensors(std::move(state));
}

std::span<const Entry> Safetensors::entries() const { return state_->entries(); }

const Entry* Safetensors::Find(std::string_view name) const {
  const std::span<const Entry> all = entries();
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const Entry& entry, std::string_view key) { return entry.name < key; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

Result<std::vector<float>> Safetensors::Read(const Entry& entry) const {
  if (Status status = State::CheckReadable(entry); !status.ok()) return status;
  std::vector<float> elements(entry.elements);
  if (Status status = Read(entry, elements); !status.ok()) return status;
  return elements;
}

Status Safetensors::Read(const Entry& entry, std::span<float> elements) const {
  return state_->Read(entry, elements);
}

}  // namespace ttfd::tensor
