// Hang reports on disk.
#include "daemon/hang/hang_store.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "daemon/hang/hang_text.h"
#include "runtime/base/log.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSummary = "summary.json";
constexpr const char* kFiles[] = {"host.json", "records.txt", "log.txt",    "device.json",
                                  "card.json", "report.json", "report.txt", kSummary};
constexpr mode_t kFolderMode = 0750;
constexpr mode_t kFileMode = 0640;
constexpr size_t kNamedIds = 8;

// Begins the name of a report's folder: what else is in the folder of reports is neither read nor removed.
constexpr std::string_view kFolderPrefix = "hang-";

// Checks that `id` is a number without leading zeros.
bool IsId(const std::string& id) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !id.empty() && id.size() < 16 && id[0] != '0' &&
         std::all_of(id.begin(), id.end(), is_digit);
}

Status SystemError(const char* what, const std::string& path) {
  return Error(StatusCode::kUnavailable, "cannot {} {}: {}", what, path, std::strerror(errno));
}

Status SyncFolder(const std::string& path) {
  const UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid() || fsync(folder.get()) != 0) return SystemError("sync", path);
  return OkStatus();
}

// With those above it, which get what the umask leaves.
Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);  // mkdir says what is wrong
  // Whatever the umask says.
  if (mkdir(path.c_str(), kFolderMode) == 0 && chmod(path.c_str(), kFolderMode) == 0) {
    return OkStatus();
  }
  return errno == EEXIST ? OkStatus() : SystemError("create", path);
}

// Also of what was being written when the daemon died.
uint64_t BytesIn(const fs::path& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const bool counts = entry->is_regular_file(gone) && !entry->is_symlink(gone);
    const uint64_t size = counts ? entry->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}

std::string MissingIn(const fs::path& folder) {
  std::string missing;
  for (const char* name : kFiles) {
    if (IsFile(folder / name)) continue;
    missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
  return missing;
}

std::string ReadFile(const fs::path& path, uint64_t most) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  std::string bytes(std::min<uint64_t>(most, fs::file_size(path, error)), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

}  // namespace

HangStore::HangStore(HangStoreOptions options) : options_(std::move(options)) {
  const std::vector<std::string> old = Ids();
  if (old.empty()) return;
  MutexLock lock(&mu_);
  last_ = old.back();
  newest_ = std::strtoull(last_.c_str(), nullptr, 10);
}

std::string HangStore::FolderOf(const std::string& id) const {
  return fmt::format("{}/{}{}", options_.folder, kFolderPrefix, id);
}

std::string HangStore::NewId() {
  MutexLock lock(&mu_);
  return std::to_string(++newest_);
}

Status HangStore::Write(const std::string& id, const char* name, std::string text) {
  const std::string folder = FolderOf(id);
  if (text.size() > options_.file_bytes) {
    constexpr std::string_view kCut = "\n(cut)\n";
    text.resize(options_.file_bytes - std::min<size_t>(options_.file_bytes, kCut.size()));
    text += kCut;
  }
  // Whoever looks meanwhile sees all of a file or none of it.
  const std::string path = folder + '/' + name;
  const std::string part = path + ".part";
  const UniqueFd file(
      open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!file.valid()) return SystemError("create", part);
  // Whatever the umask says.
  if (fchmod(file.get(), kFileMode) != 0) return SystemError("set the mode of", part);
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(file.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) return SystemError("write", part);
    done += static_cast<size_t>(std::max<ssize_t>(wrote, 0));
  }
  if (fsync(file.get()) != 0) return SystemError("sync", part);
  if (rename(part.c_str(), path.c_str()) != 0) return SystemError("rename", part);
  return SyncFolder(folder);
}

bool HangStore::Keep(const HangReport& report, const char* name, std::string text) {
  if (options_.folder.empty()) return true;
  const Status kept = Write(report.id, name, std::move(text));
  if (kept.ok()) {
    MutexLock lock(&mu_);
    last_ = report.id;
    return true;
  }
  std::error_code error;
  fs::remove(fs::path(FolderOf(report.id)) / (std::string(name) + ".part"), error);
  LogError("hang report {}: {}", report.id, StatusMessage(kept));
  return false;
}

bool HangStore::KeepHostSide(const HangReport& report) {
  if (options_.folder.empty()) return true;
  MakeRoom(report.id, std::max(options_.reports, 1u) - 1);
  Status made = MakeFolder(options_.folder);
  if (made.ok()) made = MakeFolder(FolderOf(report.id));
  if (made.ok()) made = SyncFolder(options_.folder);
  if (!made.ok()) LogError("hang report {}: {}", report.id, StatusMessage(made));
  if (!made.ok()) return false;
  bool kept = Keep(report, "host.json", HostSideJson(report));
  kept &= Keep(report, "records.txt", RecordsText(report));
  kept &= Keep(report, "log.txt", LogText(report));
  return kept;
}

bool HangStore::KeepDeviceSide(const HangReport& report) {
  bool kept = Keep(report, "device.json", DeviceSideJson(report));
  kept &= Keep(report, "card.json", report.stall.card);
  return kept;
}

// The error of the launch says that no report is kept if the disk took nothing of it before.
void HangStore::KeepOutcome(const HangReport& report) {
  if (!Holds(report.id)) return;
  Keep(report, "report.json", WholeJson(report));
  Keep(report, "report.txt", WholeText(report));
  Keep(report, kSummary, SummaryJson(report));
  if (!options_.folder.empty()) MakeRoom(report.id, std::max(options_.reports, 1u) - 1);
}

// Never the newest.
void HangStore::MakeRoom(const std::string& newest, size_t most_others) {
  std::vector<std::string> others = Ids();
  std::erase(others, newest);
  uint64_t bytes = BytesIn(FolderOf(newest));
  for (const std::string& id : others) bytes += BytesIn(FolderOf(id));
  for (size_t i = 0; i < others.size(); ++i) {
    if (others.size() - i <= most_others && bytes <= options_.bytes) break;
    bytes -= std::min(bytes, BytesIn(FolderOf(others[i])));
    std::error_code error;
    fs::remove_all(FolderOf(others[i]), error);
    if (error) LogError("cannot remove hang report {}: {}", others[i], error.message());
  }
}

std::vector<std::string> HangStore::Ids() const {
  std::vector<std::string> ids;
  if (options_.folder.empty()) return ids;
  std::error_code error;
  for (fs::directory_iterator entry(options_.folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    std::string name = entry->path().filename();
    if (!name.starts_with(kFolderPrefix)) continue;
    name.erase(0, kFolderPrefix.size());
    if (IsId(name) && entry->is_directory(ignored) && !entry->is_symlink(ignored)) {
      ids.push_back(name);
    }
  }
  std::sort(ids.begin(), ids.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);  // numbers without leading zeros
  });
  return ids;
}

bool HangStore::Holds(const std::string& id) {
  MutexLock lock(&mu_);
  return last_ == id;
}

std::string HangStore::last() const {
  MutexLock lock(&mu_);
  return last_;
}

std::vector<HangSummary> HangStore::List() const {
  std::vector<HangSummary> summaries;
  for (const std::string& id : Ids()) {
    const fs::path folder = FolderOf(id);
    const std::optional<HangSummary> kept =
        IsFile(folder / kSummary) ? ParseSummary(ReadFile(folder / kSummary, options_.file_bytes))
                                  : std::nullopt;
    const std::string missing = MissingIn(folder);
    HangSummary& summary = summaries.emplace_back(kept.value_or(HangSummary()));
    summary.id = id;
    summary.bytes = BytesIn(folder);
    summary.complete = kept && missing.empty();
    if (summary.complete) continue;
    if (!kept) {
      summary.headline =
          "the card is being repaired, daemon or host ended before it was, or the disk was full";
    }
    summary.headline += "; not kept: " + (missing.empty() ? kSummary : missing);
  }
  return summaries;
}

StatusOr<std::vector<HangStore::File>> HangStore::Read(const HangReportId& id) const {
  if (options_.folder.empty()) {
    return Error(StatusCode::kFailedPrecondition,
                 "this daemon keeps no hang reports; hangs.folder in ttfd.toml says where to");
  }
  const std::vector<std::string> ids = Ids();
  const std::string found = id ? *id : ids.empty() ? "" : ids.back();
  if (std::find(ids.begin(), ids.end(), found) == ids.end()) {
    std::string known;
    const size_t first = ids.size() - std::min(ids.size(), kNamedIds);
    for (size_t i = first; i < ids.size(); ++i) known += (i == first ? "" : ", ") + ids[i];
    if (known.empty()) return Error(StatusCode::kNotFound, "there are no hang reports yet");
    return Error(StatusCode::kNotFound, "there is no hang report '{}'; there are {}",
                 found.substr(0, 64), known);
  }
  std::vector<File> files;
  for (const char* name : kFiles) {
    const fs::path path = fs::path(FolderOf(found)) / name;
    if (!IsFile(path)) continue;
    files.push_back({name, ReadFile(path, options_.file_bytes)});
  }
  if (files.empty()) {
    return Error(StatusCode::kNotFound,
                 "nothing of hang report {} could be kept; the daemon's log says why", found);
  }
  return files;
}

}  // namespace ttfd
