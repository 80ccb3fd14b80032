// Hierarchical start-time fair queueing: users share a hardware queue by their weights, the flows of a user share
// what the user gets. Pure data structure: no thread, no clock. docs/adr/0029 says why it is so.
//
// Each node, a user or a flow, has a start tag: the device time that it used, divided by its weight, in nanoseconds.
// The node with the smallest tag is served next. A node that becomes backlogged starts at the virtual time of its
// level (the smallest tag of those that could be served last), or at its own tag if that is later: idle time earns no
// credit, and what a node used beyond its share is paid back first. Service is charged with an estimate when it
// begins and corrected when it was measured. When nothing is backlogged or in service any more, virtual time goes to
// the greatest tag: what was used while no other node was there is not paid back.
//
// Among nodes that are at most a quantum of device time ahead of the smallest tag two rules decide:
//   - the node served last is served again, so that operations of one session follow each other on the card;
//   - before it goes a node that was not ahead by more when it became backlogged, until it is served.
// So a flow that uses less than its share waits for what is in service, and any flow gets its share up to a quantum
// and the longest operation on either side.
//
// A node that cannot be served when it is next (it waits for another queue, a lease, busy workers) is as one that
// is not backlogged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "absl/functional/function_ref.h"

namespace ttfd {

// State of a node in its level. Only FairLevel changes it, but for the weight.
struct FairNode {
  double weight = 1;
  double start = 0;
  uint64_t order = 0;   // of equal tags the node that became backlogged first
  bool active = false;  // backlogged
  bool fresh = false;   // goes first: it was not served since it became backlogged with a small tag
  bool skipped = false;  // could not be served when it was next last
};

// The nodes below one parent.
class FairLevel {
 public:
  using MayServe = absl::FunctionRef<bool(FairNode&)>;

  // `quantum`: nanoseconds of device time.
  explicit FairLevel(double quantum) : quantum_(quantum) {}

  void Activate(FairNode* node);
  void Deactivate(FairNode* node);
  // The node will not be used again. REQUIRES that it is not backlogged.
  void Remove(FairNode* node);
  // The next node to serve among those that may be; null: none.
  FairNode* Pick(MayServe may_serve);
  bool Any(MayServe may_serve) const;
  // Service of an estimated length begins, and ends: `error` is how much longer it was than that. `node` null: it was
  // removed meanwhile.
  void Begin(FairNode* node, double estimate);
  void End(FairNode* node, double error);
  // The node has used so much of something else than the card.
  void Charge(FairNode* node, double nanoseconds);

  bool backlogged() const { return !active_.empty(); }
  // Nothing is backlogged or in service.
  bool idle() const { return active_.empty() && in_service_ == 0; }
  double virtual_time() const { return virtual_time_; }

 private:
  struct Before {
    bool operator()(const FairNode* a, const FairNode* b) const;
  };
  // Is the node at most a quantum ahead of this tag?
  bool IsClose(const FairNode& node, double tag) const;
  using Nodes = std::set<FairNode*, Before>;
  void Insert(FairNode* node);
  void Erase(FairNode* node);
  void Move(FairNode* node, double start, bool fresh);
  FairNode* First(const Nodes& nodes, MayServe may_serve);
  void EndBusyPeriod();

  const double quantum_;
  Nodes active_;
  Nodes fresh_;               // of them
  FairNode* last_ = nullptr;  // the node served last
  double virtual_time_ = 0;
  double greatest_ = 0;  // tag of any node
  uint64_t in_service_ = 0;
  uint64_t orders_ = 0;
};

class FairQueue {
 public:
  struct User;
  struct Flow : FairNode {
    User* user = nullptr;
  };
  struct User : FairNode {
    explicit User(double quantum) : flows(quantum) {}
    FairLevel flows;
    std::multiset<double> weights;  // of its flows: the greatest is its own
  };
  using MayServe = absl::FunctionRef<bool(Flow&)>;

  // `quantum`: nanoseconds of device time.
  explicit FairQueue(double quantum) : quantum_(quantum), root_(quantum) {}

  // A flow of user `uid`, which stays where it is until Remove.
  void Add(Flow* flow, uint32_t uid, double weight);
  // REQUIRES that it is not backlogged. Its user's tag stays until virtual time has passed it.
  void Remove(Flow* flow);

  // The flow has something to serve from now on; it has nothing any more.
  void Activate(Flow* flow);
  void Deactivate(Flow* flow);
  // The next flow to serve among those that may be; null: none. `may_serve` is called in the order of service, for a
  // flow more than once; it gives the same answer each time.
  Flow* Pick(MayServe may_serve);
  bool Any(MayServe may_serve) const;
  // As FairLevel's. `flow` null: it was removed meanwhile.
  void Begin(Flow* flow, double estimate);
  void End(uint32_t uid, Flow* flow, double error);
  void Charge(Flow* flow, double nanoseconds);

  size_t users() const { return users_.size(); }

 private:
  void Drop(uint32_t uid);
  // Users without flows whose tag virtual time has passed.
  bool Unneeded(const User& user) const;

  const double quantum_;
  FairLevel root_;
  std::map<uint32_t, std::unique_ptr<User>> users_;
};

}  // namespace ttfd
