// Makes a reply when the one before is on its way.
#include "daemon/rpc/admin_streams.h"

#include <memory>
#include <utility>

#include "daemon/rpc/admin_conversion.h"
#include "runtime/base/status.h"
#include "ttfd/v1/admin.pb.h"

namespace ttfd {
namespace {

constexpr size_t kFilePartBytes = 256 * 1024;
constexpr size_t kProfilePartBytes = 64 * 1024;

struct ProgressStream {
  void Report(ReplyCall& call, ProgressReply progress) {
    if (latest.done) return;
    latest = std::move(progress);
    pending = true;
    if (!writing) WriteLatest(call);
  }

  void WriteLatest(ReplyCall& call) {
    writing = std::exchange(pending, false);
    if (!writing) return;
    v1::Progress message;
    ToProto(latest, &message);
    call.Reply(message);
    if (latest.done) call.End(OkStatus());
  }

  ProgressReply latest;
  bool pending = false;  // `latest` is not written
  bool writing = false;
};

}  // namespace

Admin::ProgressCallback StreamProgress(ReplyCall& call) {
  const auto stream = std::make_shared<ProgressStream>();
  call.on_written = [&call, stream] { stream->WriteLatest(call); };
  return [post = call.poster(), stream](const ProgressReply& progress) {
    post([stream, progress](ReplyCall& live) { stream->Report(live, progress); });
  };
}

void SendFiles(ReplyCall& call, std::vector<HangStore::File> files) {
  call.on_written = [&call, files = std::move(files), file = size_t{0},
                     offset = size_t{0}]() mutable {
    while (file < files.size() && offset == files[file].bytes.size()) {
      ++file;
      offset = 0;
    }
    v1::FilePart part;
    if (file < files.size()) {
      part.set_name(files[file].name);
      part.set_payload(files[file].bytes.substr(offset, kFilePartBytes));
      offset += part.payload().size();
    }
    call.Reply(part);
    if (part.payload().empty()) call.End(OkStatus());  // an empty part is the last (admin.proto)
  };
  call.on_written();
}

void SendProfile(ReplyCall& call, ProfileResult result) {
  const auto profile = std::make_shared<const ProfileResult>(std::move(result));
  call.on_written = [&call, profile, next = profile->stacks.begin()]() mutable {
    v1::ProfilePart part;
    while (next != profile->stacks.end() && part.folded().size() <= kProfilePartBytes) {
      *part.mutable_folded() += fmt::format("{} {}\n", next->first, next->second);
      ++next;
    }
    const bool last = next == profile->stacks.end();
    if (last) {
      v1::ProfileSummary* const summary = part.mutable_summary();
      summary->set_samples(profile->samples);
      summary->set_lost(profile->lost);
      summary->set_whole_stacks(profile->whole_stacks);
      summary->set_interval_clocks(profile->interval_clocks);
    }
    call.Reply(part);
    if (last) call.End(OkStatus());
  };
  call.on_written();
}

}  // namespace ttfd
