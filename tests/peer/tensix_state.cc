#include "tests/peer/tensix_state.h"

#include "runtime/hw/tensix_config.h"

namespace ttfd {
namespace {

struct Step {
  uint32_t increment;
  bool clear, carriage_return, keep;
};

void Move(ReturningCounter& counter, const Step& step, uint32_t mask) {
  if (step.keep) {
    counter.Add(step.increment, mask);
    counter.start = counter.now;
  } else if (step.clear) {
    counter.Set(0);
  } else if (step.carriage_return) {
    counter.Return(step.increment, mask);
  } else {
    counter.Add(step.increment, mask);
  }
}

}  // namespace

void RowCounters::Apply(const Modifier& modifier) {
  using namespace hw::tensix;  // NOLINT(google-build-using-namespace): ten names of fields
  const auto bit = [](Field field, uint32_t word) { return field.Of(word) != 0; };
  Move(a,
       {kAddrModSrcAIncrement.Of(modifier.ab), bit(kAddrModSrcAClear, modifier.ab),
        bit(kAddrModSrcACr, modifier.ab), false},
       kSourceMask);
  Move(b,
       {kAddrModSrcBIncrement.Of(modifier.ab), bit(kAddrModSrcBClear, modifier.ab),
        bit(kAddrModSrcBCr, modifier.ab), false},
       kSourceMask);
  Move(dst,
       {kAddrModDstIncrement.Of(modifier.dst), bit(kAddrModDstClear, modifier.dst),
        bit(kAddrModDstCr, modifier.dst), bit(kAddrModDstToCr, modifier.dst)},
       kDstMask);
  const uint32_t next = phase + kAddrModFidelityIncrement.Of(modifier.dst);
  phase = bit(kAddrModFidelityClear, modifier.dst) ? 0 : next & 3;
}

}  // namespace ttfd
