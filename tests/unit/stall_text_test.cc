// What people are told of a card that hung or faulted: all that matters, once.
#include "daemon/card/stall_text.h"

#include <gmock/gmock.h>

namespace ttfd::stall_text_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

HartReport Worker(int32_t number, uint32_t pc = 0x10040) {
  HartReport hart;
  hart.where = fmt::format("worker ({},0) tile ({},2) BRISC", number, number + 1);
  hart.worker = number;
  hart.text = "runs a kernel, program 1";
  hart.waypoint = "KRUN";
  hart.pc = pc;
  hart.code = {CodePlace::Image::kKernel, "spin", 0x40, 0, {}};
  return hart;
}

TEST(StallPlaces, WorkersThatStandAlikeAreToldOnceWithTheirNumber) {
  StallReport stall;
  for (int32_t i = 0; i < 130; ++i) stall.harts.push_back(Worker(i));
  EXPECT_EQ(StallPlaces(stall, "the card hung"),
            "worker (0,0) tile (1,2) BRISC: runs a kernel, program 1 (waypoint KRUN, pc 0x10040 "
            "kernel 'spin'+0x40), like 129 more");
}

TEST(StallPlaces, OfManyThatStandElsewhereTheFirstAreNamed) {
  StallReport stall;
  for (int32_t i = 0; i < 7; ++i) {
    stall.harts.push_back(Worker(i, 0x10000 + static_cast<uint32_t>(i)));
  }
  const std::string text = StallPlaces(stall, "the card hung");
  EXPECT_THAT(text, AllOf(HasSubstr("worker (3,0)"), Not(HasSubstr("worker (4,0)")),
                          HasSubstr("\nand 3 more")));
}

TEST(StallPlaces, TheKernelThatRunsIsNamedBeforeTheFirmwareThatWaits) {
  StallReport stall;
  HartReport dispatch;
  dispatch.where = "dispatch (16,3) BRISC";
  dispatch.text = "waits for workers on stream 48";
  dispatch.pc = 0x1000;
  dispatch.code = {CodePlace::Image::kFirmware, "dispatcher firmware", 0x10, 0, {}};
  dispatch.code.symbol.kind = SymbolPlace::Kind::kCode;
  dispatch.code.symbol.frames = {
      {"Fence", "io.h", 28}, {"WaitUntil", "wait.h", 25}, {"FirmwareMain", "dispatch.cc", 163}};
  stall.harts = {dispatch, Worker(0)};
  const std::string text = StallPlaces(stall, "the card hung");
  EXPECT_LT(text.find("worker (0,0)"), text.find("dispatch (16,3)"));
  EXPECT_THAT(text, HasSubstr("Fence at io.h:28, inlined into FirmwareMain+0x0 at dispatch.cc:163"))
      << "of firmware the ends of a chain of calls tell enough";
}

TEST(StallPlaces, NamesFromKernelFiles_AreEscaped) {
  StallReport stall;
  HartReport hart = Worker(0);
  hart.code.name = "spin\x1B[2J";
  hart.code.symbol.kind = SymbolPlace::Kind::kCode;
  hart.code.symbol.frames = {{"main\n2026 info audit {}", "a\u202Eb.cc", 3}};
  stall.harts = {hart};
  EXPECT_THAT(StallPlaces(stall, "the card hung"),
              HasSubstr("main\\n2026 info audit {}+0x0 at a\\u202eb.cc:3 in kernel "
                        "'spin\\u001b[2J'"));
}

TEST(PlacesFor, KernelsOfOtherSessions_HaveNoNames) {
  HangReport report;
  const auto add = [&report](uint64_t session, uint32_t program, const char* kernel) {
    HangSlice work;
    work.client.session = session;
    work.programs = {program};
    report.slices.push_back(work);
    HartReport hart = Worker(static_cast<int32_t>(program));
    hart.program = program;
    hart.code.name = kernel;
    hart.code.symbol.kind = SymbolPlace::Kind::kCode;
    hart.code.symbol.frames = {{std::string(kernel) + "_main", "a.cc", 3}};
    hart.caller = hart.code;
    report.stall.harts.push_back(hart);
  };
  add(7, 1, "first");
  add(8, 2, "other");
  add(7, 3, "second");
  report.summary = "the card hung";
  report.places = StallPlaces(report.stall, report.summary);
  EXPECT_THAT(PlacesFor(report), HasSubstr("other")) << "for administrators";
  report.offender = 0;
  EXPECT_THAT(PlacesFor(report), AllOf(HasSubstr("first_main"), HasSubstr("second_main"),
                                       Not(HasSubstr("other_main")), Not(HasSubstr("'other'")),
                                       HasSubstr("pc 0x10040 another program's kernel+0x40")));
}

TEST(StallPlaces, DamageOfManyTilesIsToldOnceWithTheirNumber) {
  StallReport stall;
  for (uint32_t i = 0; i < 9; ++i) {
    FirmwareDamage damage;
    damage.where = fmt::format("worker ({},0)", i);
    damage.what = i == 8 ? "boot block" : "BRISC firmware";
    damage.found = i;
    stall.damage.push_back(damage);
  }
  EXPECT_EQ(StallPlaces(stall, "the card hung"),
            "worker (0,0) BRISC firmware was overwritten at 0x0: 0x0 instead of 0x0, like 7 more\n"
            "worker (8,0) boot block was overwritten at 0x0: 0x8 instead of 0x0");
}

}  // namespace
}  // namespace ttfd::stall_text_test
