// The bytes of a file, recognised and verified.
#include "client/ttmlir/src/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "client/ttmlir/src/verify.h"

namespace ttfd::ttmlir {
namespace {

using client::Code;
using client::Result;
using client::Status;

// Header fields of all versions of all kinds, by which they are recognised; and of those that have a schema hash.
constexpr std::string_view kAnyHeader = "root Header\ntable Header hash@1:text\n";
constexpr std::string_view kHashHeader = "root Header\ntable Header hash@1:text git_hash@2:text\n";
constexpr size_t kSchemaHashDigits = 64;
constexpr size_t kGitHashDigits = 40;
constexpr size_t kHeaderBytes = 12;  // size, offset of the root, identifier

struct KindRow {
  Kind kind;
  std::string_view identifier;
  std::string_view profiles;  // the first word of their names
  const char* name;
};
constexpr std::array<KindRow, 3> kKinds = {{
    {Kind::kTtnn, "TTNN", "ttnn", "TTNN"},
    {Kind::kTtMetal, "TTM0", "ttmetal", "TTMetal"},
    {Kind::kSystem, "TTSY", "system", "system description"},
}};

bool IsHash(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// The texts of a header: those of `profile`, which is kAnyHeader or kHashHeader.
Result<Record> HeaderOf(Bytes bytes, const std::shared_ptr<const Profile>& profile) {
  if (Status status = Verify(bytes, *profile); !status.ok()) return status;
  return RootOf(bytes, *profile);
}

Status ReadHashes(Bytes bytes, File* file) {
  static const auto kAny = Profile::Parse(kAnyHeader);
  static const auto kHash = Profile::Parse(kHashHeader);
  if (!kAny.ok() || !kHash.ok()) return kAny.ok() ? kHash.status() : kAny.status();
  Result<Record> header = HeaderOf(bytes, *kAny);
  if (!header.ok()) return header.status();
  const std::string_view hash = header->Text("hash");
  if (IsHash(hash, kGitHashDigits)) {
    file->git_hash = hash;
    return Status();
  }
  if (!IsHash(hash, kSchemaHashDigits)) {
    return Status(Code::kInvalidArgument,
                  "it says neither the hash of its schema nor the compiler's commit");
  }
  file->schema_hash = hash;
  header = HeaderOf(bytes, *kHash);
  if (!header.ok()) return header.status();
  file->git_hash = header->Text("git_hash");
  return Status();
}

}  // namespace

const char* KindName(Kind kind) {
  return std::find_if(kKinds.begin(), kKinds.end(),
                      [&](const KindRow& row) { return row.kind == kind; })
      ->name;
}

Result<File> OpenFile(Bytes bytes, Profiles* profiles) {
  File file;
  const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindRow& row) {
    return bytes.size() >= kHeaderBytes &&
           std::equal(row.identifier.begin(), row.identifier.end(), bytes.begin() + 8);
  });
  if (kind == kKinds.end()) {
    return Status(Code::kInvalidArgument,
                  "bytes 8 to 11 are not TTNN, TTM0 or TTSY: it is not a file of tt-mlir");
  }
  file.kind = kind->kind;
  if (Status status = ReadHashes(bytes, &file); !status.ok()) return status;
  const std::string& hash = file.schema_hash.empty() ? file.git_hash : file.schema_hash;
  auto profile = profiles->Find(kind->profiles, hash);
  if (!profile.ok()) return profile.status();
  file.profile = *std::move(profile);
  if (file.profile == nullptr) {
    return Status(Code::kUnimplemented,
                  fmt::format("there is no profile of its schema: schema hash {}, compiler's "
                              "commit {}; known: {}; make_profile.py writes one from the schema "
                              "of that commit",
                              file.schema_hash.empty() ? "none" : file.schema_hash, file.git_hash,
                              profiles->Known(kind->profiles)));
  }
  file.profile_name = ProfileName(kind->profiles, hash);
  if (Status status = Verify(bytes, *file.profile); !status.ok()) return status;
  file.root = RootOf(bytes, *file.profile);
  return file;
}

}  // namespace ttfd::ttmlir
