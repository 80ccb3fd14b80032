// What a hang leaves behind: a report with the host's own records first, its id where people look, and works that are
// played again, told, or blamed by what is known of them.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/support/offender_fixture.h"
#include "tests/support/temporary_folder.h"

namespace ttfd::card_hang_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CardHang : public OffenderTest {
 protected:
  CardHang() { options.hang_reports.folder = folder.path(); }
  // What the client sent hangs.
  void Hang() {
    card->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
    offender->Run();
    other->Take();
  }
  std::string File(const std::string& name) {
    const auto files = core->admin().GetHangReport({});
    if (!files.ok()) return "";
    for (const HangStore::File& file : *files) {
      if (file.name == name) return file.bytes;
    }
    return "";
  }

  // The error of a read when the launch after it has ended, so the read had; its bytes did not reach the host.
  ErrorReply LoseRead(uint64_t size) {
    Prepare();
    card->hold = true;
    const uint64_t read = other->Send(Read(1, 0, size), Launch(3));
    core->RunOnce();
    const uint64_t last = card->submitted(0);
    offender->Send(Launch(3));
    core->RunOnce();
    card->state = [last](const Ticket& ticket) {
      return std::optional(ticket.number < last    ? ExecutionState::kUnknown
                           : ticket.number == last ? ExecutionState::kCompleted
                                                   : ExecutionState::kRunning);
    };
    card->hold = false;
    Hang();
    return other->ErrorOf(read);
  }

  TemporaryFolder folder;
};

TEST_F(CardHang, KeepsTheHostsRecordsBeforeItLooksAtTheCard) {
  Prepare();
  std::vector<std::string> at_look, at_boot;
  const auto names = [this] {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      if (entry.is_regular_file()) found.push_back(entry.path().filename());
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  card->on_diagnose = [&] { at_look = names(); };
  card->on_boot = [&] { at_boot = names(); };
  offender->Send(Launch(3));
  Hang();
  EXPECT_THAT(at_look, ElementsAre("host.json", "log.txt", "records.txt"));
  EXPECT_THAT(at_boot,
              ElementsAre("card.json", "device.json", "host.json", "log.txt", "records.txt"));
  EXPECT_TRUE(core->admin().ListHangReports()->at(0).complete);
  EXPECT_EQ(names().size(), 8u);
}

TEST_F(CardHang, ItsIdIsWhereOneLooks) {
  Prepare();
  offender->Send(Launch(3));
  Hang();
  const std::string id = core->admin().ListHangReports()->at(0).id;
  EXPECT_EQ(offender->ErrorOf(5).hang_report, id);
  EXPECT_EQ(core->admin().GetStatus().last_hang_report, id);
  EXPECT_EQ(core->admin().GetHangReport("20200101T000000Z-000001").status().code(),
            StatusCode::kNotFound);
}

TEST_F(CardHang, Errors_NameNoReportThatCannotBeShown) {
  std::ofstream(folder.path() + "/file") << "not a folder";
  options.hang_reports.folder = folder.path() + "/file/hangs";
  Prepare();
  offender->Send(Launch(3));
  Hang();
  EXPECT_EQ(offender->ErrorOf(5).hang_report, "");
  EXPECT_THAT(offender->ErrorOf(5).message, HasSubstr("no hang report could be kept"));
  EXPECT_EQ(core->admin().GetStatus().last_hang_report, "");
}

TEST_F(CardHang, TellsWhatRanForWhomAndWhatBecameOfIt) {
  Prepare();
  card->stall.stage = StalledStage::kWorkers;
  card->stall.text = "dispatcher waits for stream 48";
  offender->Send(Launch(3));
  other->Send(Launch(3), InlineWrite(1, 0, Pattern(64, 2)), Read(1, 0, 64));
  Hang();
  const std::string text = File("report.txt");
  EXPECT_THAT(text, HasSubstr("caused by: launch of program 1 ("));
  EXPECT_THAT(text, HasSubstr("queue 0 value 5, of session 1 (client 'test', user user1000"));
  EXPECT_THAT(text, HasSubstr("launch of program 2 ("));
  EXPECT_THAT(text, HasSubstr("-> requeued (not started: it had not started)"));
  EXPECT_THAT(text, HasSubstr("workers of CQ0\n  dispatcher waits for stream 48"));
  EXPECT_THAT(text, HasSubstr("worker (1,2) BRISC: in a kernel"));
  EXPECT_THAT(text, HasSubstr("the card was reset and works again"));
  const std::string host = File("host.json");
  EXPECT_THAT(host, AllOf(HasSubstr("\"session\": 1"), HasSubstr("nothing can move any more"),
                          Not(HasSubstr("fate"))));
  EXPECT_THAT(File("device.json"), HasSubstr("\"stage\": \"workers\""));
  other->Run();
  EXPECT_THAT(other->errors, IsEmpty());
  EXPECT_EQ(other->Data(7), Pattern(64, 2));
}

TEST_F(CardHang, WhoStoodInTurnIsNamedWhereNoLaunchIsToBlame) {
  Prepare();
  offender->Send(Read(1, 0, 64));
  Hang();
  EXPECT_THAT(offender->errors, IsEmpty());
  EXPECT_EQ(offender->Data(5), Pattern(64)) << "it ran again";
  EXPECT_THAT(File("report.txt"),
              AllOf(HasSubstr("no launch is proven to be the cause"),
                    HasSubstr("it was the turn of read of 64 bytes at 0, queue 0 value 5")));
}

TEST_F(CardHang, ALaunchThatHadNotBegunIsNotToBlame) {
  Prepare();
  card->state = [](const Ticket&) { return ExecutionState::kNotStarted; };
  offender->Send(Launch(3), Read(1, 0, 64));
  Hang();
  EXPECT_THAT(offender->errors, IsEmpty());
  EXPECT_EQ(offender->Progress(), 6u);
  EXPECT_THAT(File("report.txt"), HasSubstr("it was the turn of launch of program 1"));
}

// One that ended counts as ended: it must not run twice.
TEST_F(CardHang, ALaunchThatHadEndedUnseenIsDone) {
  Prepare();
  int launches = 0;
  card->on_launch = [&launches](const LaunchCommand&) { return ++launches, OkStatus(); };
  offender->Send(Launch(3), Launch(3));
  card->state = [](const Ticket& ticket) {
    return std::optional(ticket.number % 2 == 1 ? ExecutionState::kCompleted
                                                : ExecutionState::kRunning);
  };
  Hang();
  EXPECT_EQ(launches, 0);
  const uint64_t failed = offender->errors.empty() ? 0 : offender->errors[0].first_value;
  EXPECT_EQ(failed, offender->Progress()) << "the other one";
  EXPECT_THAT(File("report.txt"),
              HasSubstr("-> completed (completed: all its workers had answered)"));
}

// All its workers had answered, and the damaged queue could not report it: nothing after it has begun.
TEST_F(CardHang, DamageOfAHardwareQueue_NamesNoLaunch) {
  Prepare();
  card->hold = true;
  offender->Send(Launch(3));
  core->RunOnce();
  const uint64_t first = card->submitted(0);
  other->Send(Launch(3));
  core->RunOnce();
  card->state = [first](const Ticket& ticket) {
    return std::optional(ticket.number <= first ? ExecutionState::kCompleted
                                                : ExecutionState::kNotStarted);
  };
  card->stall.stage = StalledStage::kWorkers;
  card->stall.damage.emplace_back().hardware_queue = 0;
  card->hold = false;
  Hang();
  other->Run();
  for (TestClient* client : clients()) {
    EXPECT_THAT(client->errors, IsEmpty());
    EXPECT_EQ(client->Progress(), 5u);
  }
}

TEST_F(CardHang, ReadWhoseDataIsLost_IsReportedCompleted) {
  const ErrorReply error = LoseRead(64);
  EXPECT_EQ(error.reason, "DEVICE_RESET");
  EXPECT_TRUE(error.retryable);
  EXPECT_EQ(error.execution_state, ExecutionState::kCompleted);
}

TEST_F(CardHang, ReadOfSeveralSlicesWhoseDataIsLost_IsReportedUnknown) {
  options.limits.chunk_bytes = 1024;
  EXPECT_EQ(LoseRead(4096).execution_state, ExecutionState::kUnknown) << "some may have arrived";
}

// Launches of two sessions ran at once: either may have overwritten the queue.
TEST_F(CardHang, DamageUnderTwoSessions_NamesNoLaunch) {
  Prepare();
  card->hold = true;
  offender->Send(Launch(3));
  core->RunOnce();
  other->Send(Launch(3));
  core->RunOnce();
  card->state = [](const Ticket&) { return std::optional(ExecutionState::kRunning); };
  card->stall.stage = StalledStage::kDispatcher;
  card->stall.damage.emplace_back().hardware_queue = 0;
  card->hold = false;
  Hang();
  EXPECT_EQ(offender->ErrorOf(5).reason, "DEVICE_RESET");
  EXPECT_EQ(other->ErrorOf(5).reason, "DEVICE_RESET");
  EXPECT_THAT(File("report.txt"), HasSubstr("no launch is proven to be the cause"));
}

// The read would see what the launch behind it did.
TEST_F(CardHang, AReadBehindWhichItsSessionChangedTheBufferIsSentAgainByItsClient) {
  Prepare();
  card->hold = true;
  card->state = [](const Ticket&) { return ExecutionState::kUnknown; };
  other->Send(Read(1, 0, 64), InlineWrite(1, 0, Pattern(64, 5)));
  core->RunOnce();
  card->hold = false;
  offender->Send(Launch(3));
  Hang();
  other->Run();
  EXPECT_EQ(other->ErrorOf(5).reason, "DEVICE_RESET");
  EXPECT_TRUE(other->ErrorOf(5).retryable);
  EXPECT_FALSE(other->ErrorOf(5).hang_report.empty());
}

TEST_F(CardHang, AnAdministratorsResetLeavesWhatHadNotBegunAlone) {
  Prepare();
  card->hold = true;
  offender->Send(Launch(3));
  other->Send(Launch(3), Read(1, 0, 4096));
  core->RunOnce();
  ASSERT_TRUE(core->admin().ResetDevice(0, [](const Status&) {}).ok());
  card->hold = false;
  RunAll();
  offender->Take();
  other->Run();
  EXPECT_EQ(offender->ErrorOf(5).reason, "DEVICE_RESET") << "it may have begun";
  EXPECT_THAT(other->errors, IsEmpty());
  EXPECT_EQ(other->Data(6), Pattern(4096));
  EXPECT_THAT(*core->admin().ListHangReports(), IsEmpty()) << "nothing hung";
}

TEST_F(CardHang, ACardThatDoesNotComeBackHasAReportThatSaysSo) {
  Prepare();
  card->failing_boots = 2;
  offender->Send(Launch(3));
  card->next_poll = Error(StatusCode::kFailedPrecondition, "died");
  core->RunOnce();
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kFailed);
  EXPECT_THAT(File("report.txt"),
              HasSubstr("the card is lost: prefetch (16,2) BRISC is not ready"));
  EXPECT_THAT(File("report.json"), HasSubstr("\"recovered\": false"));
}

TEST_F(CardHang, StatusAnswersWhileTheDeviceThreadIsStuck) {
  Prepare();
  // Nobody runs rounds: as if the device thread waited for the card.
  const TimePoint began = SteadyClock().Now();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady);
  EXPECT_LT(SteadyClock().Now() - began, std::chrono::seconds(5));
}

}  // namespace
}  // namespace ttfd::card_hang_test
