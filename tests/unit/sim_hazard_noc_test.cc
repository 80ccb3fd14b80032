// What the NoC does not promise: programs that rely on it all the same pass on the plain model and fail
// with the hazard "noc"; those that wait as they must pass under every seed.
#include "runtime/hw/stream.h"
#include "tests/support/hazard_lab.h"

namespace ttfd::sim_hazard_noc_test {
namespace {

constexpr hw::Coordinate kA = {1, 2};
constexpr hw::Coordinate kB = {3, 5};
constexpr hw::Coordinate kFar = {4, 6};  // the other corner of rectangles from kB
constexpr uint32_t kSource = 0x8000;
constexpr uint32_t kData = 0x9000;
constexpr uint32_t kFlag = 0xA000;
constexpr uint32_t kFlagSource = 0xA040;
constexpr uint32_t kOld = 0xA080;  // what increments return
constexpr uint32_t kResult = 0xB000;
constexpr uint32_t kBytes = 256;
constexpr uint32_t kNewData = 0x600D;

uint32_t WithChannel(uint32_t control, uint32_t channel) {
  return control | channel << hw::kNocVcShift;
}

class HazardNoc : public ::testing::Test {
 protected:
  // A sends the last word of kSource and then a flag, as `send` says; the receiver waits for the flag, then
  // looks at the data. True: it finds it.
  static bool DataThenFlag(SimChip& chip, const std::function<void(Rv32Asm&)>& send,
                           hw::Coordinate receiver = kB) {
    Rv32Asm a;
    EmitStore(a, kSource + kBytes - 4, kNewData);
    EmitStore(a, kFlagSource, 1);
    send(a);
    EmitEnd(a);
    Rv32Asm b;
    EmitAwaitWord(b, kFlag, 1);
    EmitCopyWord(b, kData + kBytes - 4, kResult);
    EmitEnd(b);
    const Status status = RunAll(chip, {{kA, &a}, {receiver, &b}});
    return status.ok() && chip.ReadWord(receiver, kResult) == kNewData;
  }
  static NocFields Data(uint32_t channel = 1) {
    NocFields fields = NocWrite(kA, kSource, kB, kData, kBytes);
    fields.control = WithChannel(fields.control, channel);
    return fields;
  }
  static NocFields Flag(uint32_t channel = 1) {
    NocFields fields = NocWrite(kA, kFlagSource, kB, kFlag, 4);
    fields.control = WithChannel(fields.control, channel);
    fields.buffer = 1;
    return fields;
  }
  static Experiment Sending(const NocFields& data, const NocFields& flag,
                            hw::Coordinate receiver = kB) {
    return [=](SimChip& chip) {
      const auto send = [&](Rv32Asm& a) {
        EmitSend(a, data);
        EmitSend(a, flag);
      };
      return DataThenFlag(chip, send, receiver);
    };
  }
  // The same, with the wait that needs no promise.
  static Experiment SendingAfterAck(const NocFields& data, const NocFields& flag,
                                    uint32_t acks = 1) {
    return [=](SimChip& chip) {
      return DataThenFlag(chip, [&](Rv32Asm& a) {
        EmitSend(a, data);
        EmitAwaitCounter(a, hw::kNocWriteAcks, acks, data.niu);
        EmitSend(a, flag);
      });
    };
  }
};

TEST_F(HazardNoc, ACommandBufferIsBusyUntilItsCommandIsAccepted) {
  const auto twice = [](bool polls) {
    return [polls](SimChip& chip) {
      Rv32Asm a;
      for (uint32_t i = 0; i < 2; ++i) {
        EmitNoc(a, NocInline(kA, kB, hw::StreamRegister(3, hw::kStreamBufferStart), 5 + i));
        if (polls) EmitAwaitAccepted(a);
      }
      EmitEnd(a);
      return RunAll(chip, {{kA, &a}}).ok();
    };
  };
  ExpectBites("noc", twice(false), twice(true));
  SimChip chip("sim:hazards=noc,seed=1");
  twice(false)(chip);
  ASSERT_TRUE(chip.chip().fault().has_value());
  EXPECT_EQ(chip.chip().fault()->kind, sim::FaultKind::kNocBusy);
}

TEST_F(HazardNoc, TheSourceOfAWriteIsReadUntilItIsCountedAsSent) {
  const auto reuse = [](bool waits) {
    return [waits](SimChip& chip) {
      Rv32Asm a;
      EmitStore(a, kSource, kNewData);
      EmitSend(a, NocWrite(kA, kSource, kB, kData, 4));
      if (waits) EmitAwaitCounter(a, hw::kNocNonpostedWritesSent, 1);
      EmitStore(a, kSource, 0xBAD);
      EmitEnd(a);
      return RunAll(chip, {{kA, &a}}).ok() && chip.ReadWord(kB, kData) == kNewData;
    };
  };
  ExpectBites("noc", reuse(false), reuse(true));
}

TEST_F(HazardNoc, TheSourceOfAPostedWriteIsReadUntilItIsCountedAsSent) {
  const auto reuse = [](bool waits) {
    return [waits](SimChip& chip) {
      Rv32Asm a;
      EmitStore(a, kSource, kNewData);
      NocFields write = NocWrite(kA, kSource, kB, kData, 4);
      write.control &= ~hw::kNocResponse;
      EmitSend(a, write);
      if (waits) EmitAwaitCounter(a, hw::kNocPostedWritesSent, 1);
      EmitStore(a, kSource, 0xBAD);
      EmitEnd(a);
      return RunAll(chip, {{kA, &a}}).ok() && chip.ReadWord(kB, kData) == kNewData;
    };
  };
  ExpectBites("noc", reuse(false), reuse(true));
}

TEST_F(HazardNoc, TheSourceIsFreeWhenNoWriteOfItsTransactionIsOutgoing) {
  const auto reuse = [](bool waits) {
    return [waits](SimChip& chip) {
      Rv32Asm a;
      EmitStore(a, kSource, kNewData);
      NocFields write = NocWrite(kA, kSource, kB, kData, 4);
      write.tag = 5 << 10;
      EmitSend(a, write);
      // That of another transaction says nothing.
      EmitAwaitCounter(a, hw::kNocWritesOutgoing + (waits ? 5 : 4), 0);
      EmitStore(a, kSource, 0xBAD);
      EmitEnd(a);
      return RunAll(chip, {{kA, &a}}).ok() && chip.ReadWord(kB, kData) == kNewData;
    };
  };
  ExpectBites("noc", reuse(false), reuse(true));
}

TEST_F(HazardNoc, WritesKeepOrderOnOneStaticChannelOnly) {
  ExpectBites("noc", Sending(Data(1), Flag(0)), Sending(Data(1), Flag(1)));
}

TEST_F(HazardNoc, WithoutAStaticChannelNothingKeepsOrder) {
  NocFields data = Data();
  NocFields flag = Flag();
  data.control &= ~hw::kNocStaticVc;
  flag.control &= ~hw::kNocStaticVc;
  ExpectBites("noc", Sending(data, flag), SendingAfterAck(data, flag));
}

TEST_F(HazardNoc, LinkedWritesKeepOrderWithoutAStaticChannel) {
  NocFields data = Data();
  NocFields flag = Flag();
  data.control &= ~hw::kNocStaticVc;
  flag.control &= ~hw::kNocStaticVc;
  NocFields linked = data;
  linked.control |= hw::kNocLinked;
  ExpectBites("noc", Sending(data, flag), Sending(linked, flag));
}

TEST_F(HazardNoc, NothingKeepsOrderBetweenTheTwoNocs) {
  NocFields flag = Flag();
  flag.niu = 1;
  ExpectBites("noc", Sending(Data(), flag), SendingAfterAck(Data(), flag));
}

TEST_F(HazardNoc, AnIncrementStaysBehindAWriteOnItsStaticChannelOnly) {
  const auto increment = [](uint32_t channel) {
    NocFields fields = NocIncrement(kA, kB, kFlag, 1, kOld);
    fields.control = WithChannel(fields.control, channel);
    fields.buffer = 3;
    return fields;
  };
  ExpectBites("noc", Sending(Data(1), increment(0)), Sending(Data(1), increment(1)));
}

TEST_F(HazardNoc, AnInlineWriteStaysBehindAWriteOnItsStaticChannelOnly) {
  // The flag is a register: B polls it.
  constexpr uint32_t kRegister = hw::StreamRegister(5, hw::kStreamBufferStart);
  const auto tell = [](uint32_t channel) {
    return [channel](SimChip& chip) {
      Rv32Asm a;
      EmitStore(a, kSource + kBytes - 4, kNewData);
      EmitSend(a, Data(1));
      NocFields flag = NocInline(kA, kB, kRegister, 1);
      flag.control = WithChannel(flag.control, channel);
      flag.buffer = 2;
      EmitSend(a, flag);
      EmitEnd(a);
      Rv32Asm b;
      EmitAwaitWord(b, kRegister, 1);
      EmitCopyWord(b, kData + kBytes - 4, kResult);
      EmitEnd(b);
      return RunAll(chip, {{kA, &a}, {kB, &b}}).ok() && chip.ReadWord(kB, kResult) == kNewData;
    };
  };
  ExpectBites("noc", tell(0), tell(1));
}

TEST_F(HazardNoc, AMulticastIsNeverOrderedAgainstAUnicast) {
  NocFields flag = NocMulticast(kA, kFlagSource, kB, kFar, kFlag, 4);
  flag.buffer = 1;
  ExpectBites("noc", Sending(Data(1), flag), SendingAfterAck(Data(1), flag));
}

TEST_F(HazardNoc, MulticastsKeepOrderToTheSameRectangleOnly) {
  const auto multicast = [](uint32_t from, uint32_t to, uint32_t bytes, hw::Coordinate end) {
    NocFields fields = NocMulticast(kA, from, kB, end, to, bytes);
    return fields;
  };
  const NocFields data = multicast(kSource, kData, kBytes, kFar);
  NocFields flag = multicast(kFlagSource, kFlag, 4, kFar);
  NocFields other = multicast(kFlagSource, kFlag, 4, {kFar.x, kB.y});
  flag.buffer = 1;
  other.buffer = 1;
  ExpectBites("noc", Sending(data, other), Sending(data, flag));
}

TEST_F(HazardNoc, MulticastsWithAndWithoutTheirSourceKeepOrderAtEveryTile) {
  static constexpr hw::Coordinate kBelow = {kA.x, kA.y + 1};
  const auto multicast = [](uint32_t from, uint32_t to, uint32_t bytes, bool source) {
    NocFields fields = NocMulticast(kA, from, kA, kBelow, to, bytes);
    if (source) fields.control |= hw::kNocIncludeSource;
    return fields;
  };
  for (const bool source : {false, true}) {
    NocFields flag = multicast(kFlagSource, kFlag, 4, !source);
    flag.buffer = 1;
    ExpectHolds("noc", Sending(multicast(kSource, kData, kBytes, source), flag, kBelow));
  }
}

TEST_F(HazardNoc, AWriteHasArrivedWhenItIsAcknowledgedNotWhenItIsSent) {
  // A reads back what it wrote: only the answer to the write says that it is there.
  const auto check = [](uint32_t counter) {
    return [counter](SimChip& chip) {
      Rv32Asm a;
      EmitStore(a, kSource + kBytes - 4, kNewData);
      EmitSend(a, Data());
      EmitAwaitCounter(a, counter, 1);
      EmitSend(a, NocRead(kA, kB, kData + kBytes - 4, kResult + 12, 4));
      EmitAwaitCounter(a, hw::kNocReadResponses, 1);
      EmitEnd(a);
      return RunAll(chip, {{kA, &a}}).ok() && chip.ReadWord(kA, kResult + 12) == kNewData;
    };
  };
  ExpectBites("noc", check(hw::kNocNonpostedWritesSent), check(hw::kNocWriteAcks));
}

TEST_F(HazardNoc, AMulticastHasArrivedWhenEveryReceiverHasAcknowledged) {
  const auto check = [](uint32_t acks) {
    return [acks](SimChip& chip) {
      Rv32Asm a;
      EmitStore(a, kSource, kNewData);
      EmitSend(a, NocMulticast(kA, kSource, kB, kFar, kData, 4));
      // A poll for "at least" that many.
      a.Li(kT6, hw::kNiuAddress + hw::kNocStatus + 4 * hw::kNocWriteAcks);
      a.Li(kT5, acks);
      const Rv32Asm::Label loop = a.Here();
      a.Fence();
      a.Lw(kT4, kT6, 0);
      a.Bltu(kT4, kT5, loop);
      EmitSend(a, NocRead(kA, kFar, kData, kResult, 4));
      EmitAwaitCounter(a, hw::kNocReadResponses, 1);
      EmitEnd(a);
      return RunAll(chip, {{kA, &a}}).ok() && chip.ReadWord(kA, kResult) == kNewData;
    };
  };
  ExpectBites("noc", check(1), check(4));
}

TEST_F(HazardNoc, AReadIsThereWhenItsResponseIsCounted) {
  const auto read = [](bool waits) {
    return [waits](SimChip& chip) {
      chip.WriteWord(kB, kData, kNewData);
      Rv32Asm a;
      EmitSend(a, NocRead(kA, kB, kData, kSource, 4));
      if (waits) EmitAwaitCounter(a, hw::kNocReadResponses, 1);
      EmitCopyWord(a, kSource, kResult);
      EmitEnd(a);
      return RunAll(chip, {{kA, &a}}).ok() && chip.ReadWord(kA, kResult) == kNewData;
    };
  };
  ExpectBites("noc", read(false), read(true));
}

TEST_F(HazardNoc, AReadIsThereWhenNothingOfItsTransactionIsOutstanding) {
  const auto read = [](uint32_t awaited) {
    return [awaited](SimChip& chip) {
      chip.WriteWord(kB, kData, kNewData);
      Rv32Asm a;
      NocFields fields = NocRead(kA, kB, kData, kSource, 4);
      fields.tag = 6 << 10;
      EmitSend(a, fields);
      EmitAwaitCounter(a, hw::kNocRequestsOutstanding + awaited, 0);
      EmitCopyWord(a, kSource, kResult);
      EmitEnd(a);
      return RunAll(chip, {{kA, &a}}).ok() && chip.ReadWord(kA, kResult) == kNewData;
    };
  };
  ExpectBites("noc", read(7), read(6));
}

TEST_F(HazardNoc, TheOldValueOfAnIncrementComesWithItsResponse) {
  const auto increment = [](bool waits) {
    return [waits](SimChip& chip) {
      chip.WriteWord(kB, kFlag, kNewData);
      Rv32Asm a;
      EmitSend(a, NocIncrement(kA, kB, kFlag, 1, kOld));
      if (waits) EmitAwaitCounter(a, hw::kNocAtomicResponses, 1);
      EmitCopyWord(a, kOld, kResult);
      EmitEnd(a);
      return RunAll(chip, {{kA, &a}}).ok() && chip.ReadWord(kA, kResult) == kNewData;
    };
  };
  ExpectBites("noc", increment(false), increment(true));
}

TEST_F(HazardNoc, ALongWriteArrivesInPieces) {
  // B takes the last word for the sign that everything is there.
  constexpr uint32_t kLong = 16384;
  const auto look = [](bool at_last_word) {
    return [at_last_word](SimChip& chip) {
      Rv32Asm a;
      EmitStore(a, 0x10000, kNewData);
      EmitStore(a, 0x10000 + kLong - 4, 1);
      EmitStore(a, kFlagSource, 1);
      NocFields data = NocWrite(kA, 0x10000, kB, 0x20000, kLong);
      data.control = WithChannel(data.control, 1);
      EmitSend(a, data);
      EmitSend(a, Flag(1));
      EmitEnd(a);
      Rv32Asm b;
      EmitAwaitWord(b, at_last_word ? 0x20000 + kLong - 4 : kFlag, 1);
      EmitCopyWord(b, 0x20000, kResult);
      EmitEnd(b);
      return RunAll(chip, {{kA, &a}, {kB, &b}}).ok() && chip.ReadWord(kB, kResult) == kNewData;
    };
  };
  ExpectBites("noc", look(true), look(false));
}

// A second command with the coordinates of the first goes where translating them twice leads.
TEST(CoordinatesWrittenBack, ASecondCommandTranslatesThemAgain) {
  constexpr hw::Coordinate kTo = {4, 5};     // physical column 5, column 4 is harvested
  constexpr hw::Coordinate kTwice = {5, 5};  // which is translated column 5
  for (const bool back : {false, true}) {
    SimChip chip(back ? "sim:board=p100a,coordinates=written-back" : "sim:board=p100a");
    Rv32Asm a;
    EmitStore(a, kSource, kNewData);
    EmitNoc(a, NocWrite(kA, kSource, kTo, kData, 16));
    a.Li(kT5, kFlag);
    a.Sw(kT5, kT6, hw::kNocReturnLow);
    a.Li(kT5, 1);
    a.Sw(kT5, kT6, hw::kNocCommand);
    EmitCopyWord(a, hw::kNiuAddress + hw::kNocReturnHigh, kResult);
    EmitEnd(a);
    ASSERT_TRUE(RunAll(chip, {{kA, &a}}).ok());
    EXPECT_EQ(chip.ReadWord(kTo, kData), kNewData);
    EXPECT_EQ(chip.ReadWord(back ? kTwice : kTo, kFlag), kNewData);
    EXPECT_EQ(chip.ReadWord(back ? kTo : kTwice, kFlag), 0u);
    EXPECT_EQ(chip.ReadWord(kA, kResult), back ? hw::NocXy(6, 5) : Xy(kTo));
  }
}

}  // namespace
}  // namespace ttfd::sim_hazard_noc_test
