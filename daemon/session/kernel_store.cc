// Loaded kernels by user and content, least recently used out first.
#include "daemon/session/kernel_store.h"

#include "runtime/elf/symbol_table.h"

namespace ttfd {
namespace {

uint64_t BytesOf(const KernelImage& image) {
  return image.bytes.size() + (image.symbols == nullptr ? 0 : image.symbols->bytes());
}

}  // namespace

std::shared_ptr<const KernelImage> KernelStore::Find(uint32_t uid, const std::string& sha256) {
  MutexLock lock(&mu_);
  const auto found = index_.find({uid, sha256});
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->image;
}

void KernelStore::Insert(uint32_t uid, const std::string& sha256,
                         std::shared_ptr<const KernelImage> image) {
  MutexLock lock(&mu_);
  Key key(uid, sha256);
  if (index_.contains(key)) return;
  used_bytes_ += BytesOf(*image);
  entries_.push_front({key, std::move(image)});
  index_.emplace(std::move(key), entries_.begin());
  while (used_bytes_ > capacity_bytes_ && !entries_.empty()) {
    used_bytes_ -= BytesOf(*entries_.back().image);
    index_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

uint64_t KernelStore::used_bytes() const {
  MutexLock lock(&mu_);
  return used_bytes_;
}

}  // namespace ttfd
