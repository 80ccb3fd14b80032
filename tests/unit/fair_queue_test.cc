// The fair queue against a naive restatement of its rules, in made-up time, and the bounds that it promises: random
// users and flows with random weights, arrivals and operations.
#include "daemon/card/fair_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <vector>

#include "tests/support/random.h"

namespace ttfd::fair_queue_test {
namespace {

constexpr double kMicrosecond = 1000;
constexpr double kQuantum = 1000 * kMicrosecond;
constexpr double kLongest = 400 * kMicrosecond;

// ---- the rules as they are written down, looking at every node each time

struct Node {
  double weight = 1;
  double start = 0;
  uint64_t order = 0;
  bool active = false;
  bool fresh = false;
  bool skipped = false;
};

// One level: its nodes are those that `all` lists.
struct Level {
  double virtual_time = 0;
  double greatest = 0;
  uint64_t orders = 0;
  int in_service = 0;
  Node* last = nullptr;

  void Activate(Node& node) {
    if (node.active) return;
    node.fresh = node.start <= virtual_time + Stay(node);
    node.start = std::max(node.start, virtual_time);
    node.active = true;
    node.skipped = false;
    node.order = ++orders;
  }
  void Ended(const std::vector<Node*>& all) {
    const bool busy =
        std::any_of(all.begin(), all.end(), [](const Node* node) { return node->active; });
    if (!busy && in_service == 0) virtual_time = std::max(virtual_time, greatest);
  }
  void Add(Node& node, double service) {
    node.start += service / node.weight;
    greatest = std::max(greatest, node.start);
  }
  static double Stay(const Node& node) { return kQuantum / std::max(1.0, node.weight); }
  // The first of the active nodes that are `among`, by tag; what could not be served is not backlogged meanwhile.
  template <typename MayServe, typename Among>
  Node* First(const std::vector<Node*>& all, MayServe may_serve, Among among) {
    while (true) {
      Node* first = nullptr;
      const auto before = [&](const Node& a) {
        return first == nullptr || a.start < first->start ||
               (a.start == first->start && a.order < first->order);
      };
      for (Node* node : all) {
        if (node->active && among(*node) && may_serve(*node) && before(*node)) first = node;
      }
      for (Node* node : all) {
        if (node->active && among(*node) && !may_serve(*node) && before(*node))
          node->skipped = true;
      }
      if (first == nullptr) return nullptr;
      const bool late = first->skipped && first->start < virtual_time;
      first->skipped = false;
      if (!late) return first;
      first->start = virtual_time;
    }
  }
  template <typename MayServe>
  Node* Pick(const std::vector<Node*>& all, MayServe may_serve) {
    Node* const smallest = First(all, may_serve, [](const Node&) { return true; });
    if (smallest == nullptr) return nullptr;
    virtual_time = std::max(virtual_time, smallest->start);
    Node* const fresh = First(all, may_serve, [](const Node& node) { return node.fresh; });
    if (fresh != nullptr) return last = fresh;
    const bool stays = last != nullptr && last->active && !last->skipped &&
                       last->start <= smallest->start + Stay(*last) && may_serve(*last);
    if (!stays) last = smallest;
    return last;
  }
};

// ---- a card that does one operation at a time, and clients that send to it

struct Client : FairQueue::Flow {
  uint32_t uid = 0;
  size_t index = 0;
  size_t waiting = 0;
  uint32_t eagerness = 0;  // of 100: how often it sends when it may
  double length = 0;       // of its operations, about
  bool blocked = false;    // its next operation waits for something
  double used = 0;
  double backlogged_at = 0;  // since when it waits to be served
  bool below_share = false;  // when it became backlogged
  Node model;
};

struct UserModel : Node {
  Level level;
};

class Scenario {
 public:
  struct Options {
    size_t users = 3;
    size_t clients = 8;
    bool flood = false;
    bool blocking = true;  // operations wait for something now and then
  };

  Scenario(uint32_t seed, const Options& options) : random_(seed), options_(options) {
    for (size_t i = 0; i < options.users; ++i) users_.emplace_back();
    for (size_t i = 0; i < options.clients; ++i) {
      Client& client = clients_.emplace_back();
      client.index = i;
      client.uid = static_cast<uint32_t>(i < options.users ? i : random_() % options.users);
      client.eagerness = options.flood ? 100 : 1 + random_() % 100;
      client.length = (5 + random_() % 195) * kMicrosecond;
      const double weights[] = {0.125, 1, 1, 2, 8};
      const double weight = weights[random_() % 5];
      queue_.Add(&client, client.uid, weight);
      client.model.weight = weight;
      UserModel& user = users_[client.uid];
      user.weight = client.uid == i ? weight : std::max(user.weight, weight);
    }
  }

  // One operation through the card. False: there was none.
  bool Step() {
    Arrive();
    const auto free = [](const Client& client) { return !client.blocked; };
    FairQueue::Flow* const picked =
        queue_.Pick([&](FairQueue::Flow& flow) { return free(static_cast<Client&>(flow)); });
    Client* const expected = Expected();
    EXPECT_EQ(picked, expected) << "at " << now_;
    if (picked == nullptr || expected == nullptr) {
      now_ += 20 * kMicrosecond;
      return false;
    }
    Serve(*expected);
    return true;
  }

  const std::deque<Client>& clients() const { return clients_; }
  double UserWeight(uint32_t uid) const { return users_[uid].weight; }
  double UsedBy(uint32_t uid) const {
    double used = 0;
    for (const Client& client : clients_) used += client.uid == uid ? client.used : 0;
    return used;
  }
  double longest_wait() const { return longest_wait_; }

 private:
  void Arrive() {
    for (Client& client : clients_) {
      client.blocked = options_.blocking && random_() % 8 == 0;
      const bool sends = random_() % 100 < client.eagerness && client.waiting < 40;
      if (!sends) continue;
      if (client.waiting == 0) {
        client.backlogged_at = now_;
        queue_.Activate(&client);
        users_[client.uid].level.Activate(client.model);
        root_.Activate(users_[client.uid]);
      }
      client.waiting += options_.flood ? 40 : 1 + random_() % 3;
    }
  }

  std::vector<Node*> NodesOf(uint32_t uid) {
    std::vector<Node*> nodes;
    for (Client& client : clients_) {
      if (client.uid == uid) nodes.push_back(&client.model);
    }
    return nodes;
  }
  Client& ClientOf(const Node* node) {
    return *std::find_if(clients_.begin(), clients_.end(),
                         [&](const Client& client) { return &client.model == node; });
  }
  std::vector<Node*> Users() {
    std::vector<Node*> nodes;
    for (UserModel& user : users_) nodes.push_back(&user);
    return nodes;
  }

  Client* Expected() {
    const auto free = [&](const Node& node) { return !ClientOf(&node).blocked; };
    const auto uid_of = [&](const Node& node) {
      const auto same = [&](const UserModel& user) { return &user == &node; };
      return static_cast<uint32_t>(std::find_if(users_.begin(), users_.end(), same) -
                                   users_.begin());
    };
    Node* const user = root_.Pick(Users(), [&](const Node& node) {
      const std::vector<Node*> nodes = NodesOf(uid_of(node));
      return std::any_of(nodes.begin(), nodes.end(),
                         [&](const Node* flow) { return flow->active && free(*flow); });
    });
    if (user == nullptr) return nullptr;
    const uint32_t uid = uid_of(*user);
    return &ClientOf(users_[uid].level.Pick(NodesOf(uid), free));
  }

  void Serve(Client& client) {
    UserModel& user = users_[client.uid];
    const double estimate = client.length;
    queue_.Begin(&client, estimate);
    user.level.Add(client.model, estimate);
    root_.Add(user, estimate);
    client.model.fresh = user.fresh = false;
    ++user.level.in_service;
    ++root_.in_service;
    longest_wait_ = std::max(longest_wait_, now_ - client.backlogged_at);
    client.backlogged_at = now_;
    if (--client.waiting == 0) {
      queue_.Deactivate(&client);
      client.model.active = false;
      user.level.Ended(NodesOf(client.uid));
      const std::vector<Node*> nodes = NodesOf(client.uid);
      user.active =
          std::any_of(nodes.begin(), nodes.end(), [](Node* node) { return node->active; });
      root_.Ended(Users());
    }
    // What it takes is not what was expected.
    const double takes = client.length * (0.5 + 1.5 * (random_() % 1000) / 1000.0);
    now_ += takes;
    client.used += takes;
    queue_.End(client.uid, &client, takes - estimate);
    user.level.Add(client.model, takes - estimate);
    root_.Add(user, takes - estimate);
    --user.level.in_service;
    --root_.in_service;
    user.level.Ended(NodesOf(client.uid));
    root_.Ended(Users());
  }

  Random random_;
  const Options options_;
  FairQueue queue_{kQuantum};
  std::deque<Client> clients_;
  std::deque<UserModel> users_;
  Level root_;
  double now_ = 0;
  double longest_wait_ = 0;
};

TEST(FairQueue, ServesWhatTheRulesSay) {
  uint64_t operations = 0;
  for (uint32_t seed = 0; seed < 120; ++seed) {
    Scenario scenario(seed, {1 + seed % 5, 5 + seed % 7, seed % 3 == 0, seed % 2 == 0});
    for (int i = 0; i < 1000; ++i) operations += scenario.Step() ? 1 : 0;
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(operations, 60'000u) << "mostly idle: nothing was tried";
}

TEST(FairQueue, UsersWhoNeverStop_ShareByTheirWeights) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    constexpr size_t kUsers = 4;
    Scenario scenario(seed, {kUsers, 4 + seed % 8, true, false});
    for (int i = 0; i < 3000; ++i) scenario.Step();
    for (uint32_t a = 0; a < kUsers; ++a) {
      for (uint32_t b = 0; b < a; ++b) {
        const double wa = scenario.UserWeight(a);
        const double wb = scenario.UserWeight(b);
        EXPECT_LE(std::abs(scenario.UsedBy(a) / wa - scenario.UsedBy(b) / wb),
                  kQuantum + kLongest / wa + kLongest / wb)
            << "seed " << seed << ", users " << a << " and " << b;
      }
    }
    // The longest wait: every other node has what the bound allows it.
    double bound = 0;
    for (const Client& client : scenario.clients()) {
      bound += client.weight * kQuantum + kLongest + client.weight * kLongest / 0.125;
    }
    EXPECT_LE(scenario.longest_wait(), 2 * bound) << "seed " << seed;
  }
}

// A flow that is always backlogged, and what it used.
struct Busy : FairQueue::Flow {
  double used = 0;
};

void ServeOne(FairQueue& queue, uint32_t uid, Busy* flow, double takes) {
  queue.Begin(flow, 100 * kMicrosecond);
  queue.End(uid, flow, takes - 100 * kMicrosecond);
  flow->used += takes;
}

Busy* PickAny(FairQueue& queue) {
  return static_cast<Busy*>(queue.Pick([](FairQueue::Flow&) { return true; }));
}

TEST(FairQueue, ManySessionsOfAUser_GetWhatOneSessionOfAnotherGets) {
  FairQueue queue(kQuantum);
  std::deque<Busy> many(256);
  for (Busy& flow : many) {
    queue.Add(&flow, 1, 1);
    queue.Activate(&flow);
  }
  Busy one;
  queue.Add(&one, 2, 1);
  queue.Activate(&one);
  Random random(1);
  double all = 0;
  for (int i = 0; i < 20'000; ++i) {
    Busy* const flow = PickAny(queue);
    const double takes = (5 + random() % 395) * kMicrosecond;
    ServeOne(queue, flow == &one ? 2 : 1, flow, takes);
    all += takes;
  }
  EXPECT_NEAR(one.used / all, 0.5, 0.05);
}

// Another session for each operation: the user's tag stays, and pays.
TEST(FairQueue, AUserGainsNothingByNewSessions) {
  FairQueue queue(kQuantum);
  Busy stays;
  queue.Add(&stays, 1, 1);
  queue.Activate(&stays);
  auto again = std::make_unique<Busy>();
  queue.Add(again.get(), 2, 1);
  queue.Activate(again.get());
  Random random(2);
  double used = 0;
  for (int i = 0; i < 10'000; ++i) {
    Busy* const flow = PickAny(queue);
    const double takes = (5 + random() % 395) * kMicrosecond;
    if (flow == &stays) {
      ServeOne(queue, 1, flow, takes);
      continue;
    }
    used += takes;
    queue.Begin(flow, 100 * kMicrosecond);
    queue.Deactivate(flow);
    queue.Remove(flow);
    queue.End(2, nullptr, takes - 100 * kMicrosecond);
    again = std::make_unique<Busy>();
    queue.Add(again.get(), 2, 1);
    queue.Activate(again.get());
  }
  EXPECT_NEAR(used, stays.used, kQuantum + 2 * kLongest);
}

TEST(FairQueue, KeepsNoUserWhoseUseIsPaid) {
  FairQueue queue(kQuantum);
  for (uint32_t uid = 1; uid <= 1000; ++uid) {
    Busy flow;
    queue.Add(&flow, uid, 1);
    queue.Activate(&flow);
    ASSERT_EQ(PickAny(queue), &flow);
    queue.Begin(&flow, kQuantum);
    queue.Deactivate(&flow);
    queue.Remove(&flow);
    queue.End(uid, nullptr, 5 * kQuantum);
    EXPECT_LE(queue.users(), 2u);
  }
}

// Whatever the others send, and whatever their operations take: a flow below its share is served next.
TEST(FairQueue, AFlowBelowItsShare_IsServedNext) {
  uint64_t served = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    FairQueue queue(kQuantum);
    std::deque<Busy> others(1 + seed % 9);
    const bool own_user = seed % 2 == 0;
    for (size_t i = 0; i < others.size(); ++i) {
      queue.Add(&others[i], own_user ? static_cast<uint32_t>(i + 2) : 1, 1);
      queue.Activate(&others[i]);
    }
    Busy light;
    queue.Add(&light, 1, 1);
    // Until the light one sends its next; at first nobody has used anything.
    double pause = 2 * static_cast<double>(others.size()) * kQuantum;
    bool wants = false;
    for (int i = 0; i < 4000; ++i) {
      if (!wants && pause <= 0) {
        queue.Activate(&light);
        wants = true;
      }
      Busy* const flow = PickAny(queue);
      ASSERT_EQ(flow == &light, wants) << "seed " << seed << ", operation " << i;
      const double takes = (5 + random() % (wants ? 95 : 395)) * kMicrosecond;
      const uint32_t uid =
          own_user && flow != &light ? static_cast<uint32_t>(flow - &others[0] + 2) : 1;
      ServeOne(queue, own_user ? (flow == &light ? 1 : uid) : 1, flow, takes);
      if (flow == &light) {
        queue.Deactivate(&light);
        wants = false;
        // Half of its share.
        pause = 2 * static_cast<double>(others.size()) * takes;
        ++served;
      } else {
        pause -= takes;
      }
    }
  }
  EXPECT_GT(served, 5'000u);
}

TEST(FairQueue, TimeAlone_IsNotPaidBack) {
  FairQueue queue(kQuantum);
  Busy alone;
  Busy other;
  queue.Add(&alone, 1, 1);
  queue.Add(&other, 2, 1);
  queue.Activate(&alone);
  ASSERT_EQ(PickAny(queue), &alone);
  queue.Begin(&alone, kQuantum);
  queue.Deactivate(&alone);
  queue.End(1, &alone, 10'000 * kQuantum);
  queue.Activate(&other);
  queue.Activate(&alone);
  for (int i = 0; i < 1000; ++i) {
    Busy* const flow = PickAny(queue);
    ServeOne(queue, flow == &alone ? 1 : 2, flow, 100 * kMicrosecond);
  }
  EXPECT_NEAR(alone.used, 500 * 100 * kMicrosecond, 2 * kQuantum);
}

}  // namespace
}  // namespace ttfd::fair_queue_test
