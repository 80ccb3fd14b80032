// What is written can be read: transfers through the booted firmware, across page, bank and ring
// ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "runtime/abi/l1_map.h"
#include "tests/support/booted_card.h"

namespace ttfd {
namespace {

Region Dram(uint32_t base, uint32_t page, uint64_t size) {
  return {MemoryKind::kDram, -1, base, page, size};
}

TEST(DispatchTransfer, ReadsBackWhatWasWritten) {
  BootedCard card;
  const auto data = Pattern(1 << 20, 1);
  const Region region = Dram(0x10000, 2048, data.size());
  ASSERT_TRUE(card.Write(region, 0, data).ok());
  const auto read = card.Read(region, 0, data.size());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_TRUE(*read == data);
  const Status down = card.dispatcher->Shutdown();
  EXPECT_TRUE(down.ok()) << down.ToString();
}

}  // namespace
}  // namespace ttfd
