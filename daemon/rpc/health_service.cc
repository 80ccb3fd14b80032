// Check and Watch, over the status that was set.
#include "daemon/rpc/health_service.h"

#include <memory>
#include <utility>

#include "runtime/base/status.h"

namespace ttfd {
namespace {

// Bytes. More than any service has: a Watch call keeps the name until its client ends it.
constexpr size_t kMaxServiceName = 200;

Status CheckServiceName(const std::string& name) {
  if (name.size() <= kMaxServiceName) return OkStatus();
  return InvalidArgument("the name of a service has {} bytes, at most {} are allowed", name.size(),
                         kMaxServiceName);
}

}  // namespace

// A Watch call, owned by the functions of its ReplyCall. Poller thread, but for what says otherwise.
class HealthService::Watch : public std::enable_shared_from_this<Watch> {
 public:
  Watch(HealthService& health, ReplyCall& call, std::string service)
      : health_(health), call_(call), poster_(call.poster()), service_(std::move(service)) {}
  ~Watch() { health_.Remove(this); }

  // Any thread, while health_ is locked.
  const std::string& service() const { return service_; }
  void PostUpdate() {
    poster_([weak = weak_from_this()](ReplyCall&) {
      if (const std::shared_ptr<Watch> live = weak.lock()) live->Update();
    });
  }

  // Sends the status if the client does not have it, but one at a time.
  void Update() {
    if (writing_) return;
    const std::optional<bool> serving = health_.IsServing(service_);
    const Response::ServingStatus status = !serving   ? Response::SERVICE_UNKNOWN
                                           : *serving ? Response::SERVING
                                                      : Response::NOT_SERVING;
    if (status == sent_) return;
    sent_ = status;
    writing_ = true;
    Response response;
    response.set_status(status);
    call_.Reply(response);
  }
  void OnWritten() {
    writing_ = false;
    Update();
  }

 private:
  HealthService& health_;
  ReplyCall& call_;
  const ReplyCall::Poster poster_;
  const std::string service_;
  std::optional<Response::ServingStatus> sent_;
  bool writing_ = false;
};

void HealthService::AddTo(Methods* methods) {
  (*methods)["/grpc.health.v1.Health/Check"] = ReplyCall::Method<Request>(
      request_timeout_,
      [this](ReplyCall& call, const Request& request) { StartCheck(call, request); });
  (*methods)["/grpc.health.v1.Health/Watch"] = ReplyCall::Method<Request>(
      request_timeout_,
      [this](ReplyCall& call, const Request& request) { StartWatch(call, request); });
}

void HealthService::SetServing(const std::string& service, bool serving) {
  MutexLock lock(&mu_);
  const auto [entry, added] = serving_.try_emplace(service, serving);
  if (!added && entry->second == serving) return;
  entry->second = serving;
  for (Watch* const watch : watches_) {
    if (watch->service() == service) watch->PostUpdate();
  }
}

void HealthService::StartCheck(ReplyCall& call, const Request& request) {
  const Status valid = CheckServiceName(request.service());
  if (!valid.ok()) return call.End(valid);
  const std::optional<bool> serving = IsServing(request.service());
  if (!serving) return call.End(Error(StatusCode::kNotFound, "no service of this name"));
  Response response;
  response.set_status(*serving ? Response::SERVING : Response::NOT_SERVING);
  call.Reply(response);
  call.End(OkStatus());
}

void HealthService::StartWatch(ReplyCall& call, const Request& request) {
  const Status valid = CheckServiceName(request.service());
  if (!valid.ok()) return call.End(valid);
  const auto watch = std::make_shared<Watch>(*this, call, request.service());
  call.on_written = [watch] { watch->OnWritten(); };
  // Before the status is read: a change after that is posted.
  Add(watch.get());
  watch->Update();
}

std::optional<bool> HealthService::IsServing(const std::string& service) {
  MutexLock lock(&mu_);
  const auto entry = serving_.find(service);
  if (entry == serving_.end()) return std::nullopt;
  return entry->second;
}

void HealthService::Add(Watch* watch) {
  MutexLock lock(&mu_);
  watches_.insert(watch);
}

void HealthService::Remove(Watch* watch) {
  MutexLock lock(&mu_);
  watches_.erase(watch);
}

}  // namespace ttfd
