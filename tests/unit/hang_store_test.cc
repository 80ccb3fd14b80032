// Hang reports on disk: in order, readable by the group alone, no more than allowed, and nothing else can be read.
#include "daemon/hang/hang_store.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "daemon/hang/hang_text.h"
#include "tests/support/temporary_folder.h"

namespace ttfd::hang_store_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

HangReport Report(HangStore& store) {
  HangReport report;
  report.id = store.NewId();
  report.time = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'700'000'000'250));
  report.reason = "HANG";
  report.trigger = "the launch did not end within its kernel timeout of 200 ms";
  HangSlice work;
  work.ticket = 7;
  work.turn = 1;
  work.client = {3, "a \"b\"\n\u202E\xFF", "u", 1, 2};
  work.value = 12;
  work.command = "launch of program 7 (spin)";
  work.kernels = {"spin"};
  work.programs = {7};
  work.outcome = SliceOutcome::kAborted;
  work.state = ExecutionState::kRunning;
  report.slices.push_back(work);
  report.offender = 0;
  report.queues.resize(2);
  report.queues[0].entries_announced = 3;
  report.queues[0].records = {"entry 2: 64 bytes", "  0x0000 RELAY_INLINE dispatch: WAIT barrier"};
  report.log = {"2026-01-01 info first", "2026-01-01 info last"};
  report.stall.stage = StalledStage::kWorkers;
  report.stall.text = "dispatcher waits for stream 48";
  report.stall.tiles = {{0, 5, 7, "GW"}, {1, 4, 7, "KRUN"}};
  report.stall.streams = {{0, 48, 11, 11, 10}};
  HartReport hart;
  hart.where = "worker (1,0) tile (2,2) BRISC";
  hart.waypoint = "KRUN";
  hart.pc = 0x10040;
  hart.text = "runs a kernel, program 7";
  hart.engine_wait = {"SEMWAIT sem_sel=2", "semaphore 1 is 0"};
  report.stall.harts.push_back(hart);
  report.headline = "kernel 'spin' hung on (1,2)";
  report.summary = "the card hung: spin";
  report.recovered = true;
  report.recovery = "the card was reset and works again";
  report.recovery_ms = 12.5;
  report.boot_attempts = 1;
  return report;
}

void KeepAll(HangStore& store, const HangReport& report) {
  store.KeepHostSide(report);
  store.KeepDeviceSide(report);
  store.KeepOutcome(report);
}

std::vector<std::string> Names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(HangStore, KeepsWhatIsKnownBeforeTheNextThingIsAskedFor) {
  const TemporaryFolder folder;
  HangStore store({folder.path() + "/hangs"});
  const HangReport report = Report(store);
  const std::string own = folder.path() + "/hangs/hang-" + report.id;
  store.KeepHostSide(report);
  EXPECT_THAT(Names(own), ElementsAre("host.json", "log.txt", "records.txt"));
  store.KeepDeviceSide(report);
  EXPECT_THAT(Names(own),
              ElementsAre("card.json", "device.json", "host.json", "log.txt", "records.txt"));
  store.KeepOutcome(report);
  EXPECT_THAT(Names(own), SizeIs(8));
  EXPECT_EQ(store.last(), report.id);
}

TEST(HangStore, FilesAreForTheDaemonsGroupAlone) {
  const TemporaryFolder folder;
  HangStore store({folder.path() + "/hangs"});
  const HangReport report = Report(store);
  const mode_t before = umask(0);
  KeepAll(store, report);
  umask(before);
  struct stat status {};
  for (const std::string& name : Names(folder.path() + "/hangs/hang-" + report.id)) {
    ASSERT_EQ(stat((folder.path() + "/hangs/hang-" + report.id + "/" + name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0640u) << name;
  }
  ASSERT_EQ(stat((folder.path() + "/hangs/hang-" + report.id).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0750u);
}

TEST(HangStore, AReportThatWasCutShortIsShownAsFarAsItGoes) {
  const TemporaryFolder folder;
  {
    HangStore store({folder.path()});
    store.KeepHostSide(Report(store));
  }
  HangStore next({folder.path()});
  ASSERT_THAT(next.List(), SizeIs(1));
  EXPECT_FALSE(next.List()[0].complete);
  EXPECT_EQ(next.last(), next.List()[0].id);
  const auto files = next.Read({});
  ASSERT_TRUE(files.ok());
  ASSERT_THAT(*files, SizeIs(3));
  EXPECT_EQ((*files)[0].name, "host.json");
  EXPECT_THAT((*files)[0].bytes, HasSubstr("launch of program 7 (spin)"));
}

TEST(HangStore, ListsAndReadsWholeReports) {
  const TemporaryFolder folder;
  HangStore store({folder.path()});
  EXPECT_THAT(store.List(), IsEmpty());
  EXPECT_EQ(StatusMessage(store.Read({}).status()), "there are no hang reports yet");
  EXPECT_EQ(store.Read({}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(HangStore({""}).Read({}).status().code(), StatusCode::kFailedPrecondition);
  const HangReport report = Report(store);
  KeepAll(store, report);
  ASSERT_THAT(store.List(), SizeIs(1));
  const HangSummary summary = store.List()[0];
  EXPECT_EQ(summary.id, report.id);
  EXPECT_TRUE(summary.complete);
  EXPECT_EQ(summary.time, report.time);
  EXPECT_EQ(summary.reason, "HANG");
  EXPECT_EQ(summary.headline, "kernel 'spin' hung on (1,2)");
  ASSERT_TRUE(summary.offender.has_value());
  EXPECT_EQ(summary.offender->client, (SessionClient{3, "a \"b\"\n\u202E\uFFFD", "u", 1, 2}));
  EXPECT_EQ(summary.offender->value, 12u);
  EXPECT_THAT(summary.offender->kernels, ElementsAre("spin"));
  const auto files = store.Read({});
  ASSERT_TRUE(files.ok());
  ASSERT_THAT(*files, SizeIs(8));
  uint64_t bytes = 0;
  for (const HangStore::File& file : *files) bytes += file.bytes.size();
  EXPECT_EQ(bytes, summary.bytes);
  const std::string& text = (*files)[6].bytes;
  for (const char* part :
       {"where it stopped: workers of CQ0", "worker (1,0) tile (2,2) BRISC", "pc 0x10040",
        "worker 1: 4 launches ended, at KRUN", "CQ0 stream 48: 10 of 11 answers",
        "RELAY_INLINE dispatch: WAIT barrier", "info last", "in 12.5 ms"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("worker 0:"))) << "idle workers are not listed";
  const auto json = std::ranges::find(*files, "report.json", &HangStore::File::name);
  ASSERT_NE(json, files->end());
  EXPECT_THAT(json->bytes, AllOf(HasSubstr("\"instruction\": \"SEMWAIT sem_sel=2\""),
                                 HasSubstr("\"condition\": \"semaphore 1 is 0\"")));
}

TEST(HangStore, List_SurvivesAnyChangeOfASummary) {
  const TemporaryFolder folder;
  HangStore store({folder.path()});
  const HangReport report = Report(store);
  KeepAll(store, report);
  const std::string whole = SummaryJson(report);
  ASSERT_TRUE(ParseSummary(whole).has_value());
  for (size_t i = 0; i + 2 < whole.size(); ++i) {
    EXPECT_FALSE(ParseSummary(whole.substr(0, i)).has_value()) << i;
    std::string changed = whole;
    changed[i] = changed[i] == '"' ? '{' : '"';
    static_cast<void>(ParseSummary(changed));  // may or may not be read
  }
  for (
      const char* wrong :
      {"", "[]", "{}", "7", R"({"time_unix_ms": -1, "reason": "HANG", "headline": "x"})",
       R"({"time_unix_ms": 1, "reason": 7, "headline": "x"})",
       R"({"time_unix_ms": 1, "reason": "HANG", "headline": "x", "offender": 7})",
       R"({"time_unix_ms": 1, "reason": "HANG", "headline": "x", "offender": {"client": 7, "kernels": []}})"}) {
    EXPECT_FALSE(ParseSummary(wrong).has_value()) << wrong;
  }
  std::ofstream(folder.path() + "/hang-" + report.id + "/summary.json") << "{}";
  ASSERT_THAT(store.List(), SizeIs(1));
  EXPECT_FALSE(store.List()[0].complete);
  EXPECT_THAT(store.List()[0].headline, HasSubstr("not kept: summary.json"));
}

TEST(HangStore, ReadsNothingElse) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/secret") << "x";
  fs::create_directory(folder.path() + "/hangs");
  std::ofstream(folder.path() + "/hangs/host.json") << "x";
  fs::create_directory(folder.path() + "/hangs/other");
  fs::create_directory(folder.path() + "/hangs/8");
  fs::create_directory_symlink(folder.path(), folder.path() + "/hangs/hang-9");
  HangStore store({folder.path() + "/hangs"});
  const HangReport report = Report(store);
  KeepAll(store, report);
  for (const char* id : {".", "..", "../secret", "/etc", "other", "9"}) {
    EXPECT_EQ(store.Read(id).status().code(), StatusCode::kNotFound) << id;
  }
  // A file of the report that is a link to somewhere else.
  fs::remove(folder.path() + "/hangs/hang-" + report.id + "/log.txt");
  fs::create_symlink(folder.path() + "/secret",
                     folder.path() + "/hangs/hang-" + report.id + "/log.txt");
  const auto files = store.Read({});
  ASSERT_TRUE(files.ok());
  for (const HangStore::File& file : *files) EXPECT_NE(file.name, "log.txt");
}

TEST(HangStore, TheOldestGoWhenThereAreTooMany) {
  const TemporaryFolder folder;
  HangStore store({folder.path(), 3});
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    const HangReport report = Report(store);
    ids.push_back(report.id);
    KeepAll(store, report);
    EXPECT_LE(store.List().size(), 3u);
  }
  ASSERT_THAT(store.List(), SizeIs(3));
  EXPECT_EQ(store.List()[0].id, ids[2]);
  EXPECT_EQ(store.List()[2].id, ids[4]);
}

TEST(HangStore, TheOldestGoWhenThereAreTooManyBytesButNeverTheNewest) {
  const TemporaryFolder folder;
  HangStoreOptions options{folder.path(), 100, 60'000, 20'000};
  HangStore store(options);
  for (int i = 0; i < 5; ++i) {
    HangReport report = Report(store);
    report.log.assign(1000, std::string(100, 'x'));
    KeepAll(store, report);
    uint64_t bytes = 0;
    for (const HangSummary& summary : store.List()) bytes += summary.bytes;
    EXPECT_LE(bytes, 60'000u);
    EXPECT_EQ(store.List().back().id, report.id);
  }
  const auto files = store.Read({});
  ASSERT_TRUE(files.ok());
  for (const HangStore::File& file : *files) {
    EXPECT_LE(file.bytes.size(), 20'000u) << file.name;
    EXPECT_EQ(file.name == "log.txt" && !file.bytes.ends_with("\n(cut)\n"), false);
  }
}

TEST(HangStore, Text_HasIdenticalWorkersOnce) {
  const TemporaryFolder folder;
  HangStore store({folder.path()});
  HangReport report = Report(store);
  HartReport hart = report.stall.harts[0];
  for (uint32_t x = 2; x < 40; ++x) {
    hart.where = fmt::format("worker ({},0) tile (2,2) BRISC", x);
    hart.worker = static_cast<int32_t>(x);
    hart.core = {x, 0};
    hart.progress = x;
    hart.pc = x == 9 ? 0x10050 : 0x10040;
    report.stall.harts.push_back(hart);
    report.stall.tiles.push_back({x, x == 9 ? 5u : 4u, 7, "KRUN"});
  }
  report.stall.harts[0].worker = 1;
  report.stall.harts[0].core = {1, 0};
  const std::string text = WholeText(report);
  EXPECT_THAT(text, HasSubstr("progress 0, pc 0x10040) (and 37 identical: (2,0), (3,0), "));
  EXPECT_THAT(text, HasSubstr("(18,0), ...)\n")) << "sixteen are named";
  EXPECT_THAT(text, HasSubstr("  worker (9,0) tile (2,2) BRISC: runs a kernel, program 7 (waypoint "
                              "KRUN, progress 9, pc 0x10050)\n"));
  EXPECT_THAT(text, HasSubstr("  worker 1: 4 launches ended, at KRUN, program 7 (and 37 identical: "
                              "2, 3, 4, 5, 6, 7, 8, 10, "));
  EXPECT_THAT(text, HasSubstr("  worker 9: 5 launches ended, at KRUN, program 7\n"));
}

TEST(HangStore, Text_CannotBeForgedByNames) {
  const TemporaryFolder folder;
  HangStore store({folder.path()});
  HangReport report = Report(store);
  const std::string forgery = "x\nno launch is proven to be the cause\n\x1B[2J\xC2\x9B";
  const std::string escaped = R"(x\nno launch is proven to be the cause\n\u001b[2J\u009b)";
  const auto plain_lines = [&report] {
    const std::string text = WholeText(report) + RecordsText(report) + LogText(report);
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto before = plain_lines();
  report.slices[0].client.name = forgery;
  report.slices[0].command = "launch of program 7 (" + forgery + ")";
  report.summary = "the card hung: " + forgery;
  report.log[0] = "2026-01-01 info " + forgery;
  report.queues[0].records[0] = forgery;
  report.stall.text = report.stall.harts[0].text = forgery;
  report.stall.harts[0].code.image = CodePlace::Image::kKernel;
  report.stall.harts[0].code.name = forgery;
  EXPECT_EQ(plain_lines(), before);
  const std::string text = WholeText(report);
  EXPECT_THAT(text, HasSubstr("the card hung: " + escaped + "\n"));
  EXPECT_THAT(text, HasSubstr("of session 3 (client '" + escaped + "', user u, pid 2)\n"));
  for (const std::string& all : {text, WholeJson(report), RecordsText(report), LogText(report),
                                 HostSideJson(report), DeviceSideJson(report)}) {
    EXPECT_THAT(all, Not(HasSubstr("\x1B")));
    EXPECT_THAT(all, Not(HasSubstr("\xC2\x9B")));
  }
}

TEST(HangStore, ADiskThatCannotBeWrittenCostsTheReportOnly) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "not a folder";
  HangStore store({folder.path() + "/file/hangs"});
  const HangReport report = Report(store);
  EXPECT_FALSE(store.KeepHostSide(report));
  EXPECT_FALSE(store.KeepDeviceSide(report));
  store.KeepOutcome(report);
  EXPECT_THAT(store.List(), IsEmpty());
  EXPECT_FALSE(store.Holds(report.id));
  EXPECT_EQ(store.last(), "");
}

TEST(HangStore, Folder_IsMadeWithThoseAboveIt) {
  const TemporaryFolder folder;
  HangStore store({folder.path() + "/state/ttfd/hangs"});
  const HangReport report = Report(store);
  EXPECT_FALSE(store.Holds(report.id));
  EXPECT_TRUE(store.KeepHostSide(report));
  EXPECT_TRUE(store.Holds(report.id));
  EXPECT_THAT(store.List(), SizeIs(1));
}

// Files cannot grow beyond so many bytes while this lives.
class FullDisk {
 public:
  explicit FullDisk(uint64_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit limit = {bytes, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*const handler_)(int);
  rlimit before_{};
};

TEST(HangStore, ADiskThatIsFullAtAnyByteCostsWholeFilesAndTheNextReportIsWhole) {
  const TemporaryFolder folder;
  HangStore store({folder.path(), 3});
  KeepAll(store, Report(store));
  std::map<std::string, uint64_t> sizes;
  const auto whole = store.Read({});
  ASSERT_TRUE(whole.ok());
  ASSERT_THAT(*whole, SizeIs(8));
  uint64_t largest = 0;
  for (const HangStore::File& file : *whole) {
    sizes[file.name] = file.bytes.size();
    largest = std::max<uint64_t>(largest, file.bytes.size());
  }
  constexpr uint64_t kStep = 97;  // a file is synced for each
  for (uint64_t bytes = 0; bytes <= largest; bytes += bytes == 0 ? 1 : kStep) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes of room");
    const HangReport report = Report(store);
    bool host = false, device = false;
    {
      const FullDisk full(bytes);
      host = store.KeepHostSide(report);
      device = store.KeepDeviceSide(report);
      store.KeepOutcome(report);
    }
    const auto fits = [&](const char* name) { return sizes.at(name) <= bytes; };
    EXPECT_EQ(host, fits("host.json") && fits("records.txt") && fits("log.txt"));
    EXPECT_EQ(device, fits("device.json") && fits("card.json"));
    const HangSummary summary = store.List().back();
    EXPECT_EQ(summary.id, report.id);
    EXPECT_EQ(summary.complete, bytes >= largest);
    EXPECT_EQ(summary.reason.empty(), !fits("summary.json"));
    std::vector<std::string> expected;
    for (const auto& [name, size] : sizes) {
      if (size <= bytes) expected.push_back(name);
      EXPECT_EQ(summary.headline.find(name) != std::string::npos, size > bytes) << summary.headline;
    }
    EXPECT_EQ(Names(folder.path() + "/hang-" + report.id), expected) << "whole files, nothing else";
    if (expected.empty()) {
      EXPECT_THAT(std::string(StatusMessage(store.Read(report.id).status())),
                  HasSubstr("nothing of hang report " + report.id + " could be kept"));
    }
    EXPECT_LE(store.List().size(), 3u);
    if (::testing::Test::HasFailure()) return;
  }
  KeepAll(store, Report(store));
  EXPECT_TRUE(store.List().back().complete);
}

TEST(HangStore, WhatADaemonThatDiedWasWritingCountsAndGoesWithItsReport) {
  const TemporaryFolder folder;
  HangStore store({folder.path(), 100, 60'000});
  const HangReport first = Report(store);
  store.KeepHostSide(first);
  std::ofstream(folder.path() + "/hang-" + first.id + "/device.json.part")
      << std::string(60'000, 'x');
  EXPECT_GT(store.List()[0].bytes, 60'000u);
  KeepAll(store, Report(store));
  ASSERT_THAT(store.List(), SizeIs(1));
  EXPECT_NE(store.List()[0].id, first.id);
}

TEST(HangStore, Json_EscapesNamesOfClients) {
  const TemporaryFolder folder;
  HangStore store({folder.path()});
  const std::string json = HostSideJson(Report(store));
  EXPECT_THAT(json, HasSubstr("\"name\": \"a \\\"b\\\"\\n\\u202e\\ufffd\""));
  EXPECT_THAT(json, HasSubstr("\"entries_announced\": 3"));
  const std::string whole = WholeJson(Report(store));
  EXPECT_THAT(whole, HasSubstr("\"offender\": {"));
  EXPECT_THAT(whole, HasSubstr("\"recovery_ms\": 12.5"));
}

TEST(HangStore, Text_EscapesNamesOfClients) {
  const TemporaryFolder folder;
  HangStore store({folder.path()});
  HangReport report = Report(store);
  report.slices[0].command = "launch of program 7 (\x1B]0;title\x07)";
  report.log.push_back("a line\nwith another");
  const std::string text = WholeText(report);
  EXPECT_THAT(text,
              HasSubstr("caused by: launch of program 7 (\\u001b]0;title\\u0007), queue 0 value "
                        "12, of session 3 (client 'a \"b\"\\n\\u202e\\xff'"));
  EXPECT_THAT(text, HasSubstr("\na line\\nwith another\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1B")));
}

}  // namespace
}  // namespace ttfd::hang_store_test
