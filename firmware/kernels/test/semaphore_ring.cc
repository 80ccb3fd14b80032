// Passes a token round a row of tiles: each tile waits for its semaphore, writes a word into the next
// tile's L1, increments the next tile's semaphore. The last hands it to the first. BRISC.
//
// Common arguments: 0 tiles in the row, 1 rounds, 2 L1 address of the word passed on (16-byte aligned),
// 3 L1 address of a scratch word with the same alignment. Semaphore 0 starts at 0. The tile with x = 0
// begins. Afterwards the word of tile x is how often the token had moved when it arrived there.
#include <ttfd/kernel.h>

using namespace ttfd::kernel;

void kernel_main() {
  const Position own = OwnPosition();
  const uint32_t tiles = CommonArgument(0);
  const uint32_t rounds = CommonArgument(1);
  const uint32_t word = CommonArgument(2);
  const uint32_t scratch = CommonArgument(3);
  const Position next = {own.x + 1 == tiles ? 0 : own.x + 1, own.y};
  const Semaphore token(0);
  auto* const staging = L1Pointer<volatile uint32_t>(scratch);
  for (uint32_t round = 0; round != rounds; ++round) {
    uint32_t moves = 0;
    if (own.x != 0 || round != 0) {
      token.WaitAtLeast(own.x == 0 ? round : round + 1);
      moves = *L1Pointer<volatile uint32_t>(word);
    }
    *staging = moves + 1;
    Write(scratch, OnTile(next, word), 4);
    token.IncrementOn(next, 1);
    WritesFlushedBarrier();
  }
  if (own.x == 0) {
    token.WaitAtLeast(rounds);
  }
}
