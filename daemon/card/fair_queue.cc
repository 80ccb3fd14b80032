// Start tags, virtual time, and which node is served next.
#include "daemon/card/fair_queue.h"

#include <algorithm>
#include <utility>

namespace ttfd {

bool FairLevel::Before::operator()(const FairNode* a, const FairNode* b) const {
  return a->start != b->start ? a->start < b->start : a->order < b->order;
}

void FairLevel::Insert(FairNode* node) {
  active_.insert(node);
  if (node->fresh) fresh_.insert(node);
}

void FairLevel::Erase(FairNode* node) {
  active_.erase(node);
  if (node->fresh) fresh_.erase(node);
}

void FairLevel::Activate(FairNode* node) {
  if (node->active) return;
  node->active = true;
  node->fresh = IsClose(*node, virtual_time_);
  node->skipped = false;
  node->start = std::max(node->start, virtual_time_);
  node->order = ++orders_;
  Insert(node);
}

void FairLevel::Deactivate(FairNode* node) {
  if (!node->active) return;
  Erase(node);
  node->active = false;
  EndBusyPeriod();
}

void FairLevel::Remove(FairNode* node) {
  if (last_ == node) last_ = nullptr;
}

void FairLevel::Move(FairNode* node, double start, bool fresh) {
  if (node->active) Erase(node);
  node->start = start;
  node->fresh = fresh;
  greatest_ = std::max(greatest_, start);
  if (node->active) Insert(node);
}

void FairLevel::EndBusyPeriod() {
  if (idle()) virtual_time_ = std::max(virtual_time_, greatest_);
}

bool FairLevel::Any(MayServe may_serve) const {
  return std::any_of(active_.begin(), active_.end(),
                     [&](FairNode* node) { return may_serve(*node); });
}

bool FairLevel::IsClose(const FairNode& node, double tag) const {
  return node.start <= tag + std::min(quantum_, quantum_ / node.weight);
}

// A node that could not be served before was as one that is not backlogged; it may not be the first then.
FairNode* FairLevel::First(const Nodes& nodes, MayServe may_serve) {
  while (true) {
    FairNode* first = nullptr;
    for (FairNode* node : nodes) {
      if (may_serve(*node)) {
        first = node;
        break;
      }
      node->skipped = true;
    }
    if (first == nullptr || !std::exchange(first->skipped, false)) return first;
    if (first->start >= virtual_time_) return first;
    Move(first, virtual_time_, first->fresh);
  }
}

FairNode* FairLevel::Pick(MayServe may_serve) {
  FairNode* const smallest = First(active_, may_serve);
  if (smallest == nullptr) return nullptr;
  virtual_time_ = std::max(virtual_time_, smallest->start);
  if (FairNode* const fresh = First(fresh_, may_serve); fresh != nullptr) return last_ = fresh;
  const bool stays = last_ != nullptr && last_->active && !last_->skipped &&
                     IsClose(*last_, smallest->start) && may_serve(*last_);
  if (!stays) last_ = smallest;
  return last_;
}

void FairLevel::Begin(FairNode* node, double estimate) {
  Move(node, node->start + estimate / node->weight, /*fresh=*/false);
  ++in_service_;
}

void FairLevel::End(FairNode* node, double error) {
  if (node != nullptr) Move(node, node->start + error / node->weight, node->fresh);
  --in_service_;
  EndBusyPeriod();
}

void FairLevel::Charge(FairNode* node, double nanoseconds) {
  Move(node, std::max(node->start, virtual_time_) + nanoseconds / node->weight, node->fresh);
}

// ---- users and flows

bool FairQueue::Unneeded(const User& user) const {
  return user.weights.empty() && user.flows.idle() && user.start <= root_.virtual_time();
}

void FairQueue::Drop(uint32_t uid) {
  const auto found = users_.find(uid);
  if (found == users_.end() || !Unneeded(*found->second)) return;
  root_.Remove(found->second.get());
  users_.erase(found);
}

void FairQueue::Add(Flow* flow, uint32_t uid, double weight) {
  std::erase_if(users_, [this](const auto& entry) {
    if (!Unneeded(*entry.second)) return false;
    root_.Remove(entry.second.get());
    return true;
  });
  std::unique_ptr<User>& user = users_[uid];
  if (user == nullptr) user = std::make_unique<User>(quantum_);
  flow->user = user.get();
  flow->weight = weight;
  user->weights.insert(weight);
  user->weight = *user->weights.rbegin();
}

void FairQueue::Remove(Flow* flow) {
  User& user = *flow->user;
  user.flows.Remove(flow);
  user.weights.erase(user.weights.find(flow->weight));
  if (!user.weights.empty()) user.weight = *user.weights.rbegin();
  flow->user = nullptr;
}

void FairQueue::Activate(Flow* flow) {
  flow->user->flows.Activate(flow);
  root_.Activate(flow->user);
}

void FairQueue::Deactivate(Flow* flow) {
  User& user = *flow->user;
  user.flows.Deactivate(flow);
  if (!user.flows.backlogged()) root_.Deactivate(&user);
}

FairQueue::Flow* FairQueue::Pick(MayServe may_serve) {
  const auto flow_may = [&](FairNode& node) { return may_serve(static_cast<Flow&>(node)); };
  FairNode* const user =
      root_.Pick([&](FairNode& node) { return static_cast<User&>(node).flows.Any(flow_may); });
  if (user == nullptr) return nullptr;
  return static_cast<Flow*>(static_cast<User*>(user)->flows.Pick(flow_may));
}

bool FairQueue::Any(MayServe may_serve) const {
  const auto flow_may = [&](FairNode& node) { return may_serve(static_cast<Flow&>(node)); };
  return root_.Any([&](FairNode& node) { return static_cast<User&>(node).flows.Any(flow_may); });
}

void FairQueue::Begin(Flow* flow, double estimate) {
  flow->user->flows.Begin(flow, estimate);
  root_.Begin(flow->user, estimate);
}

void FairQueue::Charge(Flow* flow, double nanoseconds) {
  flow->user->flows.Charge(flow, nanoseconds);
  root_.Charge(flow->user, nanoseconds);
}

void FairQueue::End(uint32_t uid, Flow* flow, double error) {
  const auto found = users_.find(uid);
  if (found == users_.end()) return;
  found->second->flows.End(flow, error);
  root_.End(found->second.get(), error);
  Drop(uid);
}

}  // namespace ttfd
