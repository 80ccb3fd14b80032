// How far the card is with one queue of a session, against a list that is added up each time.
#include "daemon/session/queue_slices.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "daemon/session/operation.h"
#include "tests/support/random.h"

namespace ttfd::queue_slices_test {
namespace {

using std::chrono::nanoseconds;

struct Known {
  uint64_t value;
  Ticket ticket;
  Duration cost;
};

Slice OfCommand(uint64_t value, Duration cost) {
  Slice slice;
  slice.operation = std::make_shared<Operation>();
  slice.operation->first_value = value;
  slice.times.cost = cost;
  return slice;
}

TEST(QueueSlices, EndsWithin_SumsWhatIsOnTheCard) {
  Random random(7);
  QueueSlices slices;
  std::vector<Known> on_card;
  uint64_t newest = 0;  // value
  uint32_t tickets = 0;
  for (int step = 0; step < 20'000; ++step) {
    const uint32_t what = random() % 10;
    if (what < 5) {
      // A command has one slice or more.
      if (slices.next() == nullptr) {
        newest += random() % 2;
        slices.Append(OfCommand(newest, nanoseconds(random() % 1000)));
      }
      const Duration cost = slices.next()->times.cost;
      const Ticket ticket{0, ++tickets};
      const Slice submitted = slices.Submitted(ticket);
      on_card.push_back({submitted.value(), ticket, cost});
    } else if (what < 8 && !on_card.empty()) {
      slices.Ended(on_card.front().ticket);
      on_card.erase(on_card.begin());
    } else if (what == 8 && !on_card.empty()) {
      const Known& last = on_card.back();
      slices.Return(last.ticket, OfCommand(last.value, last.cost));
      ASSERT_EQ(slices.next()->value(), last.value);
      on_card.pop_back();
    }
    const uint64_t value = random() % (newest + 2);
    Duration sum{};
    std::optional<Ticket> last;
    for (const Known& known : on_card) {
      if (known.value > value) break;
      sum += known.cost;
      last = known.ticket;
    }
    ASSERT_TRUE(slices.EndsWithin(value, sum)) << step;
    if (sum > Duration::zero()) {
      ASSERT_FALSE(slices.EndsWithin(value, sum - nanoseconds(1))) << step;
    }
    ASSERT_EQ(slices.TicketOf(value).has_value(), last.has_value()) << step;
    if (last) {
      ASSERT_EQ(slices.TicketOf(value)->number, last->number) << step;
    }
  }
}

TEST(QueueSlices, DropsWhatIsNotGivenToTheCard) {
  QueueSlices slices;
  slices.Append(OfCommand(3, nanoseconds(1)));
  const Ticket ticket{0, 1};
  const Slice third = slices.Submitted(ticket);
  slices.Append(OfCommand(4, nanoseconds(1)));
  slices.Return(ticket, OfCommand(3, nanoseconds(1)));
  slices.DropFrom(4);
  ASSERT_NE(slices.next(), nullptr);
  EXPECT_EQ(slices.next()->value(), 3u);
  slices.DropFrom(3);
  EXPECT_EQ(slices.next(), nullptr);
}

}  // namespace
}  // namespace ttfd::queue_slices_test
