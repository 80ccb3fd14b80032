// How far the device thread is with one queue of a session, against a list that is added up each time.
#include "daemon/engine/work_track.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/random.h"

namespace ttfd::work_track_test {
namespace {

using std::chrono::nanoseconds;

struct Known {
  uint64_t number;
  Duration cost;
};

TEST(WorkTrack, EndsWithin_SumsWhatIsInFlight) {
  Random random(7);
  WorkTrack track{Route()};
  std::vector<Known> in_flight;
  std::vector<uint64_t> returned;  // ascending
  uint64_t highest = 0;
  for (int step = 0; step < 20'000; ++step) {
    const uint32_t what = random() % 10;
    if (what < 5) {
      const uint64_t number = returned.empty() ? ++highest : returned.front();
      if (!returned.empty()) returned.erase(returned.begin());
      const Duration cost = nanoseconds(random() % 1000);
      track.Submitted(number, {0, number}, cost);
      in_flight.push_back({number, cost});
    } else if (what < 8 && !in_flight.empty()) {
      track.Ended(in_flight.front().number);
      in_flight.erase(in_flight.begin());
    } else if (what == 8 && !in_flight.empty()) {
      track.Returned(in_flight.back().number);
      returned.insert(returned.begin(), in_flight.back().number);
      in_flight.pop_back();
    }
    const uint64_t number = random() % (highest + 2);
    const uint64_t passed = returned.empty() ? highest : returned.front() - 1;
    Duration sum{};
    std::optional<Ticket> last;
    for (const Known& known : in_flight) {
      if (known.number > number) break;
      sum += known.cost;
      last = Ticket{0, known.number};
    }
    ASSERT_EQ(track.EndsWithin(number, sum), number <= passed) << step;
    if (sum > Duration::zero()) {
      ASSERT_FALSE(track.EndsWithin(number, sum - nanoseconds(1))) << step;
    }
    ASSERT_EQ(track.TicketOf(number).has_value(), last.has_value()) << step;
    if (last) {
      ASSERT_EQ(track.TicketOf(number)->number, last->number) << step;
    }
  }
}

}  // namespace
}  // namespace ttfd::work_track_test
