// A fault at every call that the backend makes: the error is a sentence, nothing stays reserved, the card serves again.
//
// Each scenario runs once to record its calls, all of them, loads and stores included. Then it runs once for each call
// and each fault at it: an errno that the driver's source names for that call, at it alone or from it on; another
// process that resets or removes the card at this moment; or the chip, which answers all ones from here on.
#include <cerrno>

#include "runtime/device/kmd/window.h"
#include "runtime/device/problem.h"
#include "tests/support/kmd_fixture.h"

namespace ttfd {
namespace {

using Event = StandinEvent;
using kmd::DriverVersion;

constexpr uint64_t kHuge = kmd::kHugePageBytes;

// How a call is refused. Releases of whole mappings and of memory cannot be, and accesses only lose their mapping.
struct Refusal {
  Event::Kind kind;
  uint32_t request;  // of kIoctl
  int error;
  const char* says;  // in the error's sentence
};
constexpr Refusal kRefusals[] = {
    {Event::kOpen, 0, EACCES, ""},
    {Event::kOpen, 0, EAGAIN, ""},
    {Event::kOpen, 0, EMFILE, ""},
    {Event::kOpen, 0, ENODEV, ""},
    {Event::kOpen, 0, ENOENT, ""},
    {Event::kOpen, 0, ENOMEM, ""},
    {Event::kClose, 0, EINTR, ""},
    {Event::kClose, 0, EIO, ""},
    {Event::kMap, 0, EINVAL, "window"},
    {Event::kMap, 0, ENODEV, "reset or removed"},
    {Event::kMap, 0, ENOMEM, "cannot map one more window"},
    {Event::kMap, 0, EPERM, "window"},
    {Event::kMapMemory, 0, ENOMEM, "free"},
    {Event::kIoctl, kmd::kGetDriverInfo, EFAULT, "does not say its version"},
    {Event::kIoctl, kmd::kGetDriverInfo, ENODEV, "reset or removed"},
    {Event::kIoctl, kmd::kGetDeviceInfo, EFAULT, "does not say which card it is"},
    {Event::kIoctl, kmd::kGetDeviceInfo, ENODEV, "reset or removed"},
    {Event::kIoctl, kmd::kLockControl, EINVAL, "does not give its lock"},
    {Event::kIoctl, kmd::kLockControl, ENODEV, "reset or removed"},
    {Event::kIoctl, kmd::kLockControl, kRefusedInAnswer, "held by another process: stop it"},
    {Event::kIoctl, kmd::kAllocateWindow, EINVAL, "does not give a window"},
    {Event::kIoctl, kmd::kAllocateWindow, ENODEV, "reset or removed"},
    {Event::kIoctl, kmd::kAllocateWindow, ENOMEM, "taken by other processes: stop one"},
    {Event::kIoctl, kmd::kConfigureWindow, EINVAL, "refuses to move window"},
    {Event::kIoctl, kmd::kConfigureWindow, ENODEV, "reset or removed"},
    {Event::kIoctl, kmd::kConfigureWindow, EPERM, "refuses to move window"},
    {Event::kIoctl, kmd::kPinPages, EEXIST, "refused to pin"},
    {Event::kIoctl, kmd::kPinPages, EFAULT, "see dmesg for how many pages"},
    {Event::kIoctl, kmd::kPinPages, EINVAL, "refused to pin"},
    {Event::kIoctl, kmd::kPinPages, ENODEV, "reset or removed"},
    {Event::kIoctl, kmd::kPinPages, ENOMEM, "free memory or ask for less"},
    {Event::kIoctl, kmd::kPinPages, ENOSPC, "all 16 outbound iATU regions of the card are in use"},
    {Event::kIoctl, kmd::kUnpinPages, EINVAL, ""},
    {Event::kIoctl, kmd::kUnpinPages, ENODEV, ""},
    {Event::kIoctl, kmd::kResetDevice, EBUSY, "reset of the card"},
    {Event::kIoctl, kmd::kResetDevice, EINVAL, "reset of the card"},
    {Event::kIoctl, kmd::kResetDevice, ENODEV, "reset or removed"},
    {Event::kIoctl, kmd::kResetDevice, kRefusedInAnswer, "does not obey"},
    {Event::kIoctl, kmd::kSetNocCleanup, EINVAL, "when the daemon ends"},
    {Event::kIoctl, kmd::kSetNocCleanup, ENODEV, "reset or removed"},
    {Event::kIoctl, kmd::kSetPowerState, EINVAL, ""},
    {Event::kIoctl, kmd::kSetPowerState, ENODEV, "reset or removed"},
};

// Two columns of tiles are left, so that the calls for each tile are few.
constexpr char kChip[] = "sim:board=p150,columns=3+4+5+6+7+10+11+12+13+14+15+16";

enum class Cause { kRefusal, kReset, kRemoval, kSilence };

struct Fault {
  size_t call = 0;  // its number
  Cause cause = Cause::kRefusal;
  const Refusal* refusal = nullptr;
  bool lasts = false;   // refuses the calls of its kind that follow as well
  bool resets = false;  // is the device, if there is one, reset afterwards? Else it is only closed.
};

struct Scenario {
  StandinOptions options = {};
  std::function<void()> prepare = [] {};
  std::function<Status()> act;
  // Calls that it does without or repeats, so that it may succeed though they are refused: kinds, and requests.
  std::set<uint32_t> optional = {};
};

bool IsOf(const Refusal& refusal, const Event& call) {
  return refusal.kind == call.kind && (call.kind != Event::kIoctl || refusal.request == call.id);
}

// How refusals are handled does not depend on the driver's version; how a card is lost does.
std::vector<Fault> FaultsAt(size_t number, const Event& call, const DriverVersion& version) {
  std::vector<Fault> faults;
  for (const bool resets : {false, true}) {
    for (const Refusal& refusal : kRefusals) {
      if (version != StandinOptions().version || !IsOf(refusal, call)) continue;
      faults.push_back({number, Cause::kRefusal, &refusal, /*lasts=*/false, resets});
      faults.push_back({number, Cause::kRefusal, &refusal, /*lasts=*/true, resets});
    }
    for (const Cause cause : {Cause::kReset, Cause::kRemoval, Cause::kSilence}) {
      faults.push_back({.call = number, .cause = cause, .resets = resets});
    }
  }
  return faults;
}

class KmdFault : public KmdTest {
 protected:
  void TearDown() override { Drop(); }
  void Drop() {
    window_.reset(), memory_.reset();
    card_.reset();
  }

  Status OpenCard() {
    StatusOr<std::unique_ptr<KmdDevice>> opened = TryOpen(host_bytes_);
    EXPECT_EQ(opened.ok(), ProblemOf(opened.status()) == Problem::kNone)
        << opened.status().ToString();
    ASSIGN_OR_RETURN(card_, std::move(opened));
    return OkStatus();
  }
  // A card in use, as the daemon has it.
  void Hold() {
    ASSERT_TRUE(OpenCard().ok());
    window_ = card_->OpenWindow(UnicastTarget(kTile)).value();
    memory_ = card_->AllocateHostMemory(kmd::kPageBytes).value();
    ASSERT_TRUE(card_->HoldOnExit(std::vector{kTile}).ok());
    card_->SetInUse(true);
    ASSERT_TRUE(WriteWord(*window_, 0x200, 5).ok());
  }
  Status UseWindows();

  // Runs the scenario with every fault at every call.
  void Sweep(const Scenario& scenario);

  uint64_t host_bytes_ = kmd::kDefaultArenaBytes;
  ManualClock clock_;
  std::unique_ptr<KmdDevice> card_;
  std::unique_ptr<Window> window_;
  std::unique_ptr<HostMemory> memory_;

 private:
  void Start(const Scenario& scenario) {
    Drop();
    Prepare(scenario.options, kChip);
    scenario.prepare();
  }
  void Run(const Scenario& scenario, const Event& call, const Fault& fault);
  int Inject(const Fault& fault, size_t number, const Event& now);
  // Ends the fault. A device that has lost its card does not notice.
  void Repair(const Fault& fault);
  void ExpectSentence(const Status& status, const Fault& fault);
  void ExpectLost(const Status& lost);
  void ExpectServes();
  void ExpectGuardsAndClock();
  void ExpectNothingHeld();
};

// Moves a window, takes over another, maps one for bulk writes, and takes host memory.
Status KmdFault::UseWindows() {
  const std::vector<std::byte> bulk(2 * kmd::kBulkBytes, std::byte{7});
  ASSIGN_OR_RETURN(const auto dram, card_->OpenWindow(UnicastTarget({17, 12})));
  ASSIGN_OR_RETURN(const auto tile, card_->OpenWindow(UnicastTarget({2, 3})));
  RETURN_IF_ERROR(dram->Write(2 * kHuge - kmd::kBulkBytes - 1, bulk));
  RETURN_IF_ERROR(tile->Write(0x301, ByteSpan(bulk).first(7)));
  ASSIGN_OR_RETURN(const auto memory, card_->AllocateHostMemory(2 * kmd::kPageBytes));
  ASSIGN_OR_RETURN(const uint32_t of_dram, ReadWord(*dram, 2 * kHuge));
  ASSIGN_OR_RETURN(const uint32_t of_tile, ReadWord(*tile, 0x304));
  EXPECT_EQ(of_dram, 0x07070707u);
  EXPECT_EQ(of_tile, 0x07070707u);
  return OkStatus();
}

int KmdFault::Inject(const Fault& fault, size_t number, const Event& now) {
  if (fault.cause == Cause::kRefusal) {
    const bool due = number == fault.call || (fault.lasts && number > fault.call);
    return due && IsOf(*fault.refusal, now) ? fault.refusal->error : 0;
  }
  if (number != fault.call) return 0;
  if (fault.cause == Cause::kReset) standin().ResetByAnother();
  if (fault.cause == Cause::kRemoval) standin().Remove();
  if (fault.cause == Cause::kSilence) standin().Silence();
  return 0;
}

void KmdFault::Repair(const Fault& fault) {
  standin().Silence(false);
  if (fault.cause == Cause::kRemoval) standin().ComeBackAs(3);
}

// What happened and what to do, in one line.
void KmdFault::ExpectSentence(const Status& status, const Fault& fault) {
  ExpectRefusal(status, status.code(), fault.refusal != nullptr ? fault.refusal->says : "");
  EXPECT_THAT(std::string(StatusMessage(status)), testing::MatchesRegex("[a-z/].+: .+[^.]"));
}

void KmdFault::ExpectLost(const Status& lost) {
  EXPECT_TRUE(lost.code() == StatusCode::kUnavailable || lost.code() == StatusCode::kDataLoss)
      << lost.ToString();
  EXPECT_EQ(card_->Advance(1).status(), lost);
  EXPECT_EQ(card_->AllocateHostMemory(1).status(), lost);
  EXPECT_EQ(card_->HoldOnExit(std::vector{kTile}), lost);
  EXPECT_EQ(ReadWord(*card_->OpenWindow(UnicastTarget({2, 3})).value(), 0).status(), lost);
  card_->SetInUse(true);
}

void KmdFault::ExpectServes() {
  const std::vector<std::byte> bulk(kmd::kBulkBytes, std::byte{9});
  const auto window = card_->OpenWindow(UnicastTarget({2, 4})).value();
  const auto memory = card_->AllocateHostMemory(kmd::kPageBytes).value();
  const Status written = window->Write(0x1000, bulk);
  ASSERT_TRUE(written.ok()) << written.ToString();
  EXPECT_EQ(*ReadWord(*window, 0x1000), 0x09090909u);
  EXPECT_EQ(standin().pins().Translate(memory->noc_address()), memory->bytes().data());
  EXPECT_EQ(standin().memory().mappings(), 1u);
  EXPECT_EQ(standin().locks(), 1u);
  ExpectGuardsAndClock();
  if (window_ == nullptr) return;
  ASSERT_TRUE(WriteWord(*window_, 0x200, 7).ok());
  EXPECT_EQ(*ReadWord(*window_, 0x200), 7u);
  EXPECT_EQ(standin().pins().Translate(memory_->noc_address()), memory_->bytes().data());
}

void KmdFault::ExpectGuardsAndClock() {
  EXPECT_TRUE(card_->HoldOnExit(std::vector{kTile}).ok());
  EXPECT_EQ(standin().open_files(), standin().version() < kmd::kFirstCleanup ? 1u : 2u);
  card_->SetInUse(true);  // it may have been refused: the next one is another
  for (const bool in_use : {false, true}) {
    card_->SetInUse(in_use);
    const bool can = standin().version() >= kmd::kFirstPower;
    EXPECT_EQ((standin().power() & kmd::kPowerHighClock) != 0, in_use && can);
  }
}

void KmdFault::ExpectNothingHeld() {
  EXPECT_EQ(standin().open_files(), 0u);
  EXPECT_EQ(standin().windows().in_use(), 0u);
  EXPECT_EQ(standin().windows().mappings(), 0u);
  EXPECT_EQ(standin().pins().count(), 0u);
  EXPECT_EQ(standin().memory().mappings(), 0u);
  EXPECT_EQ(standin().locks(), 0u);
}

void KmdFault::Run(const Scenario& scenario, const Event& call, const Fault& fault) {
  Start(scenario);
  size_t number = 0;
  standin().calls().BeforeEach([&](const Event& now) { return Inject(fault, number++, now); });
  const Status status = scenario.act();
  standin().calls().BeforeEach(nullptr);
  if (!status.ok()) {
    ExpectSentence(status, fault);
  } else if (fault.cause == Cause::kRefusal) {
    const uint32_t what = call.kind == Event::kIoctl ? call.id : uint32_t{call.kind};
    EXPECT_TRUE(call.kind == Event::kClose || scenario.optional.contains(what))
        << "a refusal went unnoticed";
  }
  const Status lost = card_ != nullptr ? card_->CheckPresence() : OkStatus();
  if (!lost.ok()) ExpectLost(lost);
  const bool of_chip = fault.resets && lost.code() == StatusCode::kDataLoss;
  if (!of_chip) Repair(fault);
  if (card_ != nullptr && lost.ok()) ExpectServes();
  if (card_ != nullptr && fault.resets) {
    const Status reset = of_chip ? card_->ResetChip(clock_, NoTick) : card_->Reset();
    ASSERT_TRUE(reset.ok()) << reset.ToString();
    ExpectServes();
  }
  Drop();
  ExpectNothingHeld();
  const Status opened = KmdDevice::Open("0000:03:00.0", standin().system(), host_bytes_).status();
  EXPECT_TRUE(opened.ok()) << opened.ToString();
  ExpectNothingHeld();
}

void KmdFault::Sweep(const Scenario& scenario) {
  std::vector<Event> calls;
  Start(scenario);
  standin().calls().Record(&calls);
  const Status status = scenario.act();
  ASSERT_TRUE(status.ok()) << status.ToString();
  standin().calls().Record(nullptr);
  for (size_t i = 0; i < calls.size(); ++i) {
    for (const Fault& fault : FaultsAt(i, calls[i], scenario.options.version)) {
      SCOPED_TRACE(fmt::format(
          "driver {}, call {} of {} (kind {}, request {:#x}), cause {}, {}{}",
          scenario.options.version.ToString(), i, calls.size(), static_cast<int>(calls[i].kind),
          calls[i].id, static_cast<int>(fault.cause),
          fault.refusal != nullptr ? fault.refusal->error : 0, fault.lasts ? ", lasting" : ""));
      Run(scenario, calls[i], fault);
      if (HasFatalFailure()) return;
    }
  }
}

constexpr DriverVersion kVersions[] = {{2, 0, 0}, {2, 4, 1}, {2, 6, 0}, {2, 10, 0}};

TEST_F(KmdFault, WhileACardIsOpened) {
  for (const DriverVersion& version : kVersions) {
    Sweep({.options = {.version = version},
           .act = [&] { return OpenCard(); },
           .optional = {kmd::kLockControl}});
  }
}

TEST_F(KmdFault, WhileHugepagesArePinned) {
  host_bytes_ = 3 * kHuge;
  Sweep({.options = {.iommu = false, .giant_pages = 0, .huge_pages = 3},
         .act = [&] { return OpenCard(); },
         .optional = {Event::kMapMemory, kmd::kLockControl}});
}

TEST_F(KmdFault, WhileWindowsAreUsed) {
  for (const DriverVersion& version : kVersions) {
    Sweep({.options = {.version = version},
           .prepare = [&] { Hold(); },
           .act = [&] { return UseWindows(); },
           .optional = {Event::kMap, kmd::kAllocateWindow}});
  }
}

// A refusal says nothing about the card.
TEST_F(KmdFault, WhileItsPresenceIsChecked) {
  const auto act = [&] {
    Status present = card_->CheckPresence();
    EXPECT_EQ(present, card_->Advance(1).status());
    return present;
  };
  for (const DriverVersion& version : kVersions) {
    Sweep({.options = {.version = version},
           .prepare = [&] { Hold(); },
           .act = act,
           .optional = {Event::kMap, kmd::kAllocateWindow, kmd::kConfigureWindow}});
  }
}

TEST_F(KmdFault, WhileTilesAreToBeHeldOnExit) {
  const auto act = [&] {
    Status held = card_->HoldOnExit(std::vector<hw::Coordinate>{{2, 3}, {2, 4}});
    EXPECT_EQ(standin().open_files(), held.ok() ? 3u : 1u);
    return held;
  };
  Sweep({.prepare = [&] { Hold(); }, .act = act});
}

TEST_F(KmdFault, WhileTheClockIsRequested) {
  const auto act = [&] {
    card_->SetInUse(false);
    return OkStatus();
  };
  Sweep({.prepare = [&] { Hold(); }, .act = act, .optional = {kmd::kSetPowerState}});
}

TEST_F(KmdFault, WhileHartsAreReset) {
  Sweep({.prepare = [&] { Hold(); },
         .act = [&] { return card_->Reset(); },
         .optional = {Event::kMap, kmd::kAllocateWindow}});
}

TEST_F(KmdFault, WhileTheChipIsReset) {
  Scenario scenario = {
      .prepare = [&] { Hold(); },
      .act = [&] { return card_->ResetChip(clock_, NoTick); },
      .optional = {Event::kMap, kmd::kAllocateWindow, kmd::kConfigureWindow, kmd::kSetPowerState}};
  for (const DriverVersion& version : kVersions) {
    scenario.options.version = version;
    if (version >= kmd::kFirstReset) Sweep(scenario);
  }
}

TEST_F(KmdFault, WhileASilentChipIsReset) {
  const auto prepare = [&] {
    Hold();
    standin().Silence();
    EXPECT_EQ(card_->CheckPresence().code(), StatusCode::kDataLoss);
  };
  Sweep({.prepare = prepare,
         .act = [&] { return card_->ResetChip(clock_, NoTick); },
         .optional = {Event::kMap, kmd::kAllocateWindow, kmd::kConfigureWindow,
                      kmd::kSetPowerState}});
}

TEST_F(KmdFault, WhileALostCardIsFoundAgain) {
  const auto prepare = [&] {
    Hold();
    standin().Remove();
    EXPECT_FALSE(card_->CheckPresence().ok());
    standin().ComeBackAs(1);
  };
  for (const DriverVersion& version : kVersions) {
    Sweep({.options = {.version = version},
           .prepare = prepare,
           .act = [&] { return card_->Reset(); },
           .optional = {kmd::kSetPowerState}});
  }
}

TEST_F(KmdFault, WhileACardIsClosed) {
  const auto act = [&] {
    Drop();
    return OkStatus();
  };
  for (const DriverVersion& version : kVersions) {
    Sweep({.options = {.version = version},
           .prepare = [&] { Hold(); },
           .act = act,
           .optional = {kmd::kUnpinPages}});
  }
}

}  // namespace
}  // namespace ttfd
