// How long the launches of a program take: what traces are cut into segments by.
#pragma once

#include "daemon/session/operation.h"

namespace ttfd {

// `slice` of `operation` has ended; if it has run kernels to their end its time is known. The launches of a segment are
// not measured one by one: each is taken to have been as much slower than expected as the segment was. `guess`: of a
// program that has not run.
void LearnLaunchTimes(const Operation& operation, const Slice& slice, Duration guess);

}  // namespace ttfd
