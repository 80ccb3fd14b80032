// Loaded kernels by user and content.
#include "daemon/session/kernel_store.h"

#include <algorithm>
#include <span>
#include <utility>

#include "daemon/session/sha256.h"
#include "runtime/elf/symbol_table.h"

namespace ttfd {
namespace {

// Memory of the store's own for an entry: two copies of the hash, nodes of a list and a map.
constexpr uint64_t kEntryBytes = 256;

}  // namespace

uint64_t HeldBytes(const KernelImage& image) {
  return sizeof(KernelImage) + image.name.size() + image.bytes.size() +
         image.needs.size() * sizeof(KernelNeed) +
         (image.symbols == nullptr ? 0 : image.symbols->bytes());
}

LoadedKernel KernelStore::Load(uint32_t uid, const std::string& name, const std::string& bytes) {
  LoadedKernel loaded{Sha256(bytes)};
  if (auto known = Find(uid, loaded.sha256)) {
    loaded.image = std::move(known);
    return loaded;
  }
  loaded.image = loader_(std::as_bytes(std::span(bytes)), name);
  if (loaded.image.ok()) Insert(uid, loaded.sha256, *loaded.image);
  return loaded;
}

std::shared_ptr<const KernelImage> KernelStore::Find(uint32_t uid, const std::string& sha256) {
  MutexLock lock(&mu_);
  const auto user = users_.find(uid);
  if (user == users_.end()) return nullptr;
  const auto found = user->second.index.find(sha256);
  if (found == user->second.index.end()) return nullptr;
  std::list<Entry>& entries = user->second.entries;
  entries.splice(entries.begin(), entries, found->second);
  return found->second->image;
}

void KernelStore::Insert(uint32_t uid, const std::string& sha256,
                         std::shared_ptr<const KernelImage> image) {
  MutexLock lock(&mu_);
  User& user = users_[uid];
  if (user.index.contains(sha256)) return;
  const uint64_t bytes = kEntryBytes + HeldBytes(*image);
  user.entries.push_front({sha256, std::move(image), bytes});
  user.index.emplace(sha256, user.entries.begin());
  user.bytes += bytes;
  used_bytes_ += bytes;
  while (used_bytes_ > capacity_bytes_) EvictOne();
}

void KernelStore::EvictOne() {
  const auto most = std::max_element(
      users_.begin(), users_.end(),
      [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
  User& user = most->second;
  user.bytes -= user.entries.back().bytes;
  used_bytes_ -= user.entries.back().bytes;
  user.index.erase(user.entries.back().sha256);
  user.entries.pop_back();
  if (user.entries.empty()) users_.erase(most);
}

uint64_t KernelStore::used_bytes() const {
  MutexLock lock(&mu_);
  return used_bytes_;
}

}  // namespace ttfd
