// Operations that move elements, with a daemon, against the host's own moves by strides: equal in every bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "tests/support/client_daemon.h"
#include "ttfd/tensor/ops.h"

namespace ttfd::tensor {
namespace {

using testing::ClientDaemon;
using Integers = std::vector<int64_t>;

// A tensor on the host: numbers that bfloat16 has.
struct Array {
  Shape shape;
  std::vector<float> numbers;

  bool operator==(const Array&) const = default;
};

Array Numbered(const Shape& shape, uint32_t from = 0) {
  Array array = {shape, std::vector<float>(shape.elements())};
  for (size_t i = 0; i < array.numbers.size(); ++i) {
    // Different in neighbours of all sorts: a prime number of bfloat16 numbers, none of them 0.
    const uint32_t bits = 0x3F80 + static_cast<uint32_t>((i + from) % 15013);
    const uint32_t word = (bits & 0x7FFF) << 16;
    std::memcpy(&array.numbers[i], &word, sizeof(word));
  }
  return array;
}

// For each index of `shape` in order: f(index).
template <typename Function>
void ForEachIndex(const Shape& shape, Function f) {
  Integers index(shape.rank(), 0);
  for (uint64_t i = 0; i < shape.elements(); ++i) {
    f(index);
    for (size_t d = shape.rank(); d-- != 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

float At(const Array& array, const Integers& index) {
  size_t element = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    element = element * array.shape[d] + static_cast<size_t>(index[d]);
  }
  return array.numbers.at(element);
}

// The array of `shape` whose element at each index is number(index).
template <typename Function>
Array Made(const Shape& shape, Function number) {
  Array array = {shape, {}};
  ForEachIndex(shape, [&](const Integers& index) { array.numbers.push_back(number(index)); });
  return array;
}

class TensorMove : public ::testing::Test {
 protected:
  static Card Open(const ClientDaemon& daemon) {
    Result<Card> card = Card::Open({.connect = {.address = daemon.address()}});
    EXPECT_TRUE(card.ok()) << card.status().ToString() << daemon.Log();
    return *card;
  }

  uint32_t Random(size_t count) {
    return std::uniform_int_distribution<uint32_t>(0, static_cast<uint32_t>(count) - 1)(random_);
  }
  bool Coin() { return Random(2) == 0; }

  Shape RandomShape(size_t rank) {
    constexpr uint32_t kExtents[] = {1, 2, 3, 5, 8, 16, 31, 32, 33, 40, 64, 70, 96, 100};
    std::vector<uint32_t> extents(rank, 1);
    uint32_t elements = 1;
    for (size_t d = rank; d-- != 0;) {
      const uint32_t extent = kExtents[Random(std::size(kExtents))];
      if (elements * extent > 30000) continue;
      extents[d] = extent;
      elements *= extent;
    }
    return Shape(extents);
  }

  DType RandomType() { return Coin() ? DType::kBFloat16 : DType::kFloat32; }
  Layout RandomLayout() { return Random(3) == 0 ? Layout::kRowMajor : Layout::kTile; }
  Tensor Send(const Array& array) { return Send(array, RandomType(), RandomLayout()); }
  Tensor Send(const Array& array, DType dtype, Layout layout) {
    return card_.FromHost(array.numbers, array.shape, dtype, layout);
  }

  // Elements and, by the bytes of whole tiles, the padding.
  void Expect(const Tensor& found, const Array& wanted, const std::string& what) {
    const Result<std::vector<float>> numbers = found.ToHost();
    ASSERT_TRUE(numbers.ok()) << what << ": " << numbers.status().ToString();
    ASSERT_EQ(found.shape().ToString(), wanted.shape.ToString()) << what;
    for (size_t i = 0; i < wanted.numbers.size(); ++i) {
      ASSERT_EQ((*numbers)[i], wanted.numbers[i])
          << what << ": element " << i << " of " << found.spec().ToString();
    }
    if (found.layout() != Layout::kTile) return;
    const Tensor fresh = card_.FromHost(wanted.numbers, wanted.shape, found.dtype());
    ASSERT_TRUE(BytesOf(found) == BytesOf(fresh))
        << what << ": padding " << found.spec().ToString();
  }
  std::vector<std::byte> BytesOf(const Tensor& tensor) {
    std::vector<std::byte> bytes(tensor.spec().size_bytes());
    client::Queue queue = card_.queue();
    EXPECT_TRUE(queue.Read(*tensor.buffer(), 0, bytes).ok());
    return bytes;
  }

  // A tensor with random content where a new one may get its memory.
  void DirtyPool(const Tensor& like) {
    const Array rest = Numbered(like.shape(), 77);
    const Tensor tile = Send(rest, like.dtype(), Layout::kTile);
    const Tensor rows = Send(rest, like.dtype(), Layout::kRowMajor);
  }

  ClientDaemon daemon_;
  Card card_ = Open(daemon_);
  std::minstd_rand random_{7};
};

std::string TextOf(const Integers& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += " " + std::to_string(number);
  return text;
}

constexpr int kCases = 40;  // of an operation

TEST_F(TensorMove, ToLayoutKeepsElements) {
  for (int i = 0; i < kCases; ++i) {
    const Array array = Numbered(RandomShape(1 + Random(5)));
    const Tensor x = Send(array);
    DirtyPool(x);
    const Layout other = x.layout() == Layout::kTile ? Layout::kRowMajor : Layout::kTile;
    Expect(ToLayout(x, other), array, "to_layout of " + x.spec().ToString());
  }
}

TEST_F(TensorMove, ReshapeKeepsTheOrder) {
  for (int i = 0; i < kCases; ++i) {
    const Array array = Numbered(RandomShape(1 + Random(5)));
    const Tensor x = Send(array);
    DirtyPool(x);
    // Prime factors of the extents in random order, on a random number of extents.
    std::vector<uint32_t> extents(1 + Random(5), 1);
    for (const uint32_t extent : array.shape.extents()) {
      uint32_t rest = extent;
      for (uint32_t factor = 2; rest != 1; ++factor) {
        for (; rest % factor == 0; rest /= factor) extents[Random(extents.size())] *= factor;
      }
    }
    Integers shape(extents.begin(), extents.end());
    shape[Random(shape.size())] = -1;
    Expect(Reshape(x, shape), {Shape(extents), array.numbers},
           "reshape of " + x.spec().ToString() + " to" + TextOf(shape));
  }
}

TEST_F(TensorMove, PermuteMovesExtents) {
  for (int i = 0; i < 2 * kCases; ++i) {
    const Array array = Numbered(RandomShape(1 + Random(5)));
    const Tensor x = Send(array);
    DirtyPool(x);
    Integers dims(array.shape.rank());
    std::iota(dims.begin(), dims.end(), 0);
    std::shuffle(dims.begin(), dims.end(), random_);
    std::vector<uint32_t> extents;
    for (const int64_t dim : dims) extents.push_back(array.shape[static_cast<size_t>(dim)]);
    const Array wanted = Made(Shape(extents), [&](const Integers& index) {
      Integers from(index.size());
      for (size_t d = 0; d < index.size(); ++d) from[static_cast<size_t>(dims[d])] = index[d];
      return At(array, from);
    });
    Expect(Permute(x, dims), wanted, "permute of " + x.spec().ToString() + " by" + TextOf(dims));
  }
}

TEST_F(TensorMove, SliceTakesEachStep) {
  for (int i = 0; i < kCases; ++i) {
    const Array array = Numbered(RandomShape(1 + Random(5)));
    const Tensor x = Send(array);
    DirtyPool(x);
    Integers begins, ends, steps;
    std::vector<uint32_t> extents;
    for (const uint32_t extent : array.shape.extents()) {
      const uint32_t begin = Coin() ? extent / 64 * 32 : Random(extent);
      const uint32_t end = Coin() ? extent : begin + 1 + Random(extent - begin);
      const uint32_t step = Coin() ? 1 : 1 + Random(5);
      begins.push_back(Coin() ? begin : int64_t{begin} - extent);
      ends.push_back(end);
      steps.push_back(step);
      extents.push_back((end - begin - 1) / step + 1);
    }
    const Array wanted = Made(Shape(extents), [&](Integers index) {
      for (size_t d = 0; d < index.size(); ++d) {
        index[d] = index[d] * steps[d] + begins[d] + (begins[d] < 0 ? array.shape[d] : 0);
      }
      return At(array, index);
    });
    Expect(Slice(x, begins, ends, steps), wanted,
           "slice of " + x.spec().ToString() + " from" + TextOf(begins) + " to" + TextOf(ends) +
               " by" + TextOf(steps));
  }
}

TEST_F(TensorMove, ConcatPutsTensorsInARow) {
  for (int i = 0; i < kCases; ++i) {
    const Shape shape = RandomShape(1 + Random(4));
    const size_t dim = Random(static_cast<uint32_t>(shape.rank()));
    const DType dtype = RandomType();
    const Layout layout = RandomLayout();
    std::vector<Array> arrays;
    std::vector<Tensor> tensors;
    std::vector<uint32_t> extents(shape.extents().begin(), shape.extents().end());
    extents[dim] = 0;
    const uint32_t count = i == 0 ? 19 : 1 + Random(9);
    for (uint32_t j = 0; j < count; ++j) {
      std::vector<uint32_t> own(shape.extents().begin(), shape.extents().end());
      if (Coin()) own[dim] = 1 + Random(40);
      extents[dim] += own[dim];
      arrays.push_back(Numbered(Shape(own), 100 * j));
      tensors.push_back(Send(arrays.back(), dtype, layout));
    }
    const Array wanted = Made(Shape(extents), [&](Integers index) {
      size_t j = 0;
      for (; index[dim] >= arrays[j].shape[dim]; ++j) index[dim] -= arrays[j].shape[dim];
      return At(arrays[j], index);
    });
    Expect(Concat(tensors, static_cast<int64_t>(dim)), wanted,
           "concat of " + std::to_string(count) + " to " + wanted.shape.ToString() + " along " +
               std::to_string(dim));
  }
}

TEST_F(TensorMove, RepeatGoesRoundTheExtents) {
  for (int i = 0; i < kCases; ++i) {
    const Array array = Numbered(RandomShape(1 + Random(3)));
    const Tensor x = Send(array);
    DirtyPool(x);
    Integers repeats;
    std::vector<uint32_t> extents;
    for (const uint32_t extent : array.shape.extents()) {
      repeats.push_back(1 + Random(3));
      extents.push_back(extent * static_cast<uint32_t>(repeats.back()));
    }
    const Array wanted = Made(Shape(extents), [&](Integers index) {
      for (size_t d = 0; d < index.size(); ++d) index[d] %= array.shape[d];
      return At(array, index);
    });
    Expect(Repeat(x, repeats), wanted, "repeat of " + x.spec().ToString() + TextOf(repeats));
  }
}

TEST_F(TensorMove, PadSurroundsTheElements) {
  for (int i = 0; i < kCases; ++i) {
    const Array array = Numbered(RandomShape(1 + Random(4)));
    const Tensor x = Send(array);
    DirtyPool(x);
    const float value = Coin() ? 0.0f : -2.5f;
    Integers padding;
    std::vector<uint32_t> extents;
    uint64_t elements = array.shape.elements();
    for (const uint32_t extent : array.shape.extents()) {
      const bool grows = Coin() && elements / extent * (extent + 44) < 150000;
      padding.push_back(grows ? Random(40) : 0);
      padding.push_back(grows ? Random(5) : 0);
      elements = elements / extent * (extent + static_cast<uint32_t>(padding.end()[-2]) + 4);
      extents.push_back(extent + static_cast<uint32_t>(padding.end()[-2] + padding.back()));
    }
    const Array wanted = Made(Shape(extents), [&](Integers index) {
      for (size_t d = 0; d < index.size(); ++d) {
        index[d] -= padding[2 * d];
        if (index[d] < 0 || index[d] >= array.shape[d]) return value;
      }
      return At(array, index);
    });
    Expect(Pad(x, padding, value), wanted, "pad of " + x.spec().ToString() + TextOf(padding));
  }
}

TEST_F(TensorMove, EmbeddingTakesRows) {
  for (int i = 0; i < kCases; ++i) {
    const Array weight = Numbered({1 + Random(100), Coin() ? 1 + Random(150) : 64});
    const Shape shape = RandomShape(1 + Random(3));
    const Tensor w = Send(weight);
    std::vector<uint32_t> indices(std::min<uint64_t>(shape.elements(), 200));
    for (uint32_t& index : indices) index = Random(weight.shape[0] + 2);
    const Shape index_shape =
        indices.size() == shape.elements() ? shape : Shape({static_cast<uint32_t>(indices.size())});
    const Tensor x = card_.FromHost(indices, index_shape, RandomLayout());
    std::vector<uint32_t> extents(index_shape.extents().begin(), index_shape.extents().end());
    extents.push_back(weight.shape[1]);
    Array wanted = {Shape(extents), {}};
    for (const uint32_t index : indices) {
      for (uint32_t j = 0; j < weight.shape[1]; ++j) {
        wanted.numbers.push_back(index < weight.shape[0] ? At(weight, {index, j}) : 0);
      }
    }
    Expect(Embedding(x, w, RandomLayout()), wanted,
           "embedding of " + x.spec().ToString() + " in " + w.spec().ToString());
  }
}

TEST_F(TensorMove, CachesChangeInPlace) {
  for (int i = 0; i < kCases; ++i) {
    const Shape shape = {1 + Random(4), 1 + Random(3), 1 + Random(80),
                         Coin() ? 1 + Random(70) : 64};
    Array array = Numbered(shape);
    const Tensor cache = Send(array);
    const uint32_t users = 1 + Random(shape[0]), offset = Random(shape[0] - users + 1);
    const uint32_t rows = 1 + Random(shape[2]), row = Random(shape[2] - rows + 1);
    const Array block = Numbered({users, shape[1], rows, shape[3]}, 5000);
    const Tensor filled = FillCache(cache, Send(block, cache.dtype(), RandomLayout()),
                                    {.batch_offset = offset, .update_index = row});
    array = Made(shape, [&](Integers index) {
      const Integers from = {index[0] - offset, index[1], index[2] - row, index[3]};
      const bool inside = from[0] >= 0 && from[0] < users && from[2] >= 0 && from[2] < rows;
      return At(inside ? block : array, inside ? from : index);
    });
    EXPECT_EQ(filled.buffer(), cache.buffer());
    Expect(cache, array, "fill_cache of " + cache.spec().ToString());

    const Array step = Numbered({1, shape[1], users, shape[3]}, 9000);
    const Tensor input = Send(step, cache.dtype(), RandomLayout());
    std::vector<uint32_t> positions(Coin() ? 1 : users);
    for (uint32_t& position : positions) position = Random(shape[2] + 1);
    const bool from_host = Coin() && positions[0] < shape[2];
    if (from_host) positions.resize(1);
    const auto count = static_cast<uint32_t>(positions.size());
    const Tensor updated =
        from_host
            ? UpdateCache(cache, input, {.batch_offset = offset, .update_index = positions[0]})
            : UpdateCache(cache, input, card_.FromHost(positions, {count}, RandomLayout()), offset);
    EXPECT_TRUE(updated.ok()) << updated.status().ToString();
    array = Made(shape, [&](Integers index) {
      const int64_t user = index[0] - offset;
      const bool inside = user >= 0 && user < users &&
                          index[2] == positions[count == 1 ? 0 : static_cast<size_t>(user)];
      return inside ? At(step, {0, index[1], user, index[3]}) : At(array, index);
    });
    Expect(cache, array, "update_cache of " + cache.spec().ToString());
  }
}

TEST_F(TensorMove, HeadsAreSplitAndJoined) {
  for (int i = 0; i < kCases / 2; ++i) {
    const uint32_t heads = 1 + Random(4), kv = 1 + Random(heads),
                   width = Coin() ? 32 : 1 + Random(40);
    const Array array = Numbered({1 + Random(3), 1 + Random(70), (heads + 2 * kv) * width});
    const Tensor x = Send(array);
    const bool transposed = Coin();
    const Heads parts = SplitQueryKeyValueAndSplitHeads(
        x, {.num_heads = heads, .num_kv_heads = kv, .transpose_key = transposed});
    const auto wanted = [&](uint32_t first, uint32_t count, bool swap) {
      const uint32_t rows = array.shape[1];
      const Shape shape = {array.shape[0], count, swap ? width : rows, swap ? rows : width};
      return Made(shape, [&](Integers index) {
        if (swap) std::swap(index[2], index[3]);
        return At(array, {index[0], index[2], (first + index[1]) * width + index[3]});
      });
    };
    Expect(parts.query, wanted(0, heads, false), "queries of " + x.spec().ToString());
    Expect(parts.key, wanted(heads, kv, transposed), "keys of " + x.spec().ToString());
    Expect(parts.value, wanted(heads + kv, kv, false), "values of " + x.spec().ToString());
    const Array query = {{array.shape[0], array.shape[1], heads * width}, {}};
    const Array together =
        Made(query.shape, [&](const Integers& index) { return At(array, index); });
    Expect(ConcatenateHeads(parts.query), together, "heads of " + x.spec().ToString());
  }
}

TEST_F(TensorMove, IntegersKeepTheirBits) {
  std::vector<uint32_t> numbers(33 * 70);
  for (uint32_t& number : numbers) number = static_cast<uint32_t>(random_()) * 2654435761u;
  const Tensor x = card_.FromHost(numbers, {33, 70});
  const Tensor again =
      ToLayout(Transpose(Transpose(ToLayout(x, Layout::kTile))), Layout::kRowMajor);
  const Result<std::vector<uint32_t>> found = again.ToHost<uint32_t>();
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_EQ(*found, numbers);
  EXPECT_EQ(x.ToHost().status().code(), Code::kInvalidArgument);
}

TEST_F(TensorMove, WholeTilesOfBfp8Move) {
  const Array array = Numbered({3, 4, 64, 96});
  const Tensor x = Send(array, DType::kBfp8, Layout::kTile);
  const std::vector<float> rounded = *x.ToHost();
  const Array exact = {array.shape, rounded};
  const Array wanted = Made({4, 3, 32, 96}, [&](const Integers& index) {
    return At(exact, {index[1], index[0], index[2] + 32, index[3]});
  });
  Expect(Permute(Slice(x, {0, 0, 32, 0}, {3, 4, 64, 96}), {1, 0, 2, 3}), wanted, "bfp8");
}

TEST_F(TensorMove, CopiesReplaceTheElementsInPlace) {
  for (int i = 0; i < kCases; ++i) {
    const Shape shape = {1 + Random(3), 1 + Random(80), 1 + Random(70)};
    const Tensor target = Send(Numbered(shape));
    const Array array = Numbered(shape, 5000);
    const uint64_t version = target.version();
    const Tensor copied = CopyInto(target, Send(array, target.dtype(), RandomLayout()));
    EXPECT_EQ(copied.buffer(), target.buffer());
    EXPECT_NE(target.version(), version);
    Expect(target, array, "copy_into of " + target.spec().ToString());
  }
}

TEST_F(TensorMove, ARecordedCopyRunsWithEachReplay) {
  const Shape shape = {40, 64};
  const Tensor x = Send(Numbered(shape), DType::kBFloat16, Layout::kTile);
  const Tensor target = Send(Numbered(shape, 500), DType::kBFloat16, Layout::kTile);
  EXPECT_FALSE(card_.IsRecording());
  Result<Recording> recording = card_.Record([&] {
    EXPECT_TRUE(card_.IsRecording());
    CopyInto(target, x);
  });
  ASSERT_TRUE(recording.ok()) << recording.status().ToString();
  for (int i = 0; i < 2; ++i) {
    const Array array = Numbered(shape, 900 + i);
    CopyInto(x, Send(array, DType::kBFloat16, Layout::kTile));
    const uint64_t version = target.version();
    ASSERT_TRUE(recording->Replay().ok());
    EXPECT_NE(target.version(), version);
    Expect(target, array, "a replayed copy");
  }
}

TEST_F(TensorMove, ARecordedUpdateRunsWithEachReplay) {
  Array array = Numbered({2, 1, 40, 64});
  Tensor cache = Send(array, DType::kBFloat16, Layout::kTile);
  const Array step = Numbered({1, 1, 2, 64}, 500);
  const Tensor input = Send(step, DType::kBFloat16, Layout::kTile);
  Tensor positions = card_.FromHost(std::vector<uint32_t>{3, 39}, {2});
  Tensor copy;
  Result<Recording> recording = card_.Record([&] {
    EXPECT_TRUE(UpdateCache(cache, input, positions).ok());
    copy = Reshape(cache, {2, 40, 64});
  });
  ASSERT_TRUE(recording.ok()) << recording.status().ToString();
  Expect(cache, array, "before a replay");
  ASSERT_TRUE(recording->Replay().ok());
  for (int64_t column = 0; column < 64; ++column) {
    array.numbers[static_cast<size_t>(3 * 64 + column)] = At(step, {0, 0, 0, column});
    array.numbers[static_cast<size_t>((40 + 39) * 64 + column)] = At(step, {0, 0, 1, column});
  }
  Expect(cache, array, "after a replay");
  // The recording keeps the memory of the cache and of the positions.
  cache = Tensor();
  positions = Tensor();
  std::vector<Tensor> others;
  for (uint32_t i = 0; i < 4; ++i)
    others.push_back(Send(Numbered({2, 1, 40, 64}, i), DType::kBFloat16, Layout::kTile));
  ASSERT_TRUE(recording->Replay(2).ok());
  Expect(copy, {{2, 40, 64}, array.numbers}, "the copy");
  Expect(others[1], Numbered({2, 1, 40, 64}, 1), "another tensor");
}

}  // namespace
}  // namespace ttfd::tensor
