// The store of loaded kernels: what it counts, and whom a full store takes from.
#include "daemon/session/kernel_store.h"

#include <gtest/gtest.h>

namespace ttfd::kernel_store_test {
namespace {

constexpr uint32_t kAnn = 1000;
constexpr uint32_t kBob = 1001;

std::shared_ptr<const KernelImage> Image(size_t bytes, size_t name_bytes = 0) {
  auto image = std::make_shared<KernelImage>();
  image->name.assign(name_bytes, 'n');
  image->bytes.resize(bytes);
  return image;
}

TEST(KernelStore, Find_IsByUserAndContent) {
  KernelStore store(1 << 20, nullptr);
  const auto image = Image(100);
  store.Insert(kAnn, "hash", image);
  EXPECT_EQ(store.Find(kAnn, "hash"), image);
  EXPECT_EQ(store.Find(kBob, "hash"), nullptr);
  EXPECT_EQ(store.Find(kAnn, "other"), nullptr);
}

TEST(KernelStore, Names_CountAgainstTheCapacity) {
  KernelStore store(1 << 20, nullptr);
  store.Insert(kAnn, "a", Image(100));
  const uint64_t unnamed = store.used_bytes();
  EXPECT_GT(unnamed, 100u);
  store.Insert(kAnn, "b", Image(100, 4000));
  EXPECT_EQ(store.used_bytes(), 2 * unnamed + 4000);
  store.Insert(kAnn, "c", Image(100, 1 << 20));
  EXPECT_LE(store.used_bytes(), uint64_t{1} << 20);
}

TEST(KernelStore, Full_EvictsTheLeastRecentlyUsed) {
  KernelStore store(10'000, nullptr);
  for (const char* hash : {"a", "b", "c"}) store.Insert(kAnn, hash, Image(2500));
  EXPECT_NE(store.Find(kAnn, "a"), nullptr);
  store.Insert(kAnn, "d", Image(2500));
  EXPECT_EQ(store.Find(kAnn, "b"), nullptr);
  EXPECT_NE(store.Find(kAnn, "a"), nullptr);
  EXPECT_NE(store.Find(kAnn, "d"), nullptr);
}

TEST(KernelStore, Full_TakesFromTheUserWithMost) {
  KernelStore store(100'000, nullptr);
  store.Insert(kBob, "bob", Image(2500));
  for (int i = 0; i < 1000; ++i) store.Insert(kAnn, std::to_string(i), Image(2500));
  EXPECT_NE(store.Find(kBob, "bob"), nullptr) << "it was used longest ago of all";
  EXPECT_NE(store.Find(kAnn, "999"), nullptr);
  EXPECT_EQ(store.Find(kAnn, "0"), nullptr);
  EXPECT_LE(store.used_bytes(), 100'000u);
  for (int i = 0; i < 1000; ++i) store.Insert(kBob, std::to_string(i), Image(2500));
  EXPECT_NE(store.Find(kAnn, "999"), nullptr) << "half of the store is left to her";
}

}  // namespace
}  // namespace ttfd::kernel_store_test
