// SPDX-License-Identifier: Apache-2.0
// Sweeps: which values runs have, who runs what, records as bytes.
#include "stickslip/sweep/sweep.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>
#include <thread>

#include "stickslip/common/error.hpp"
#include "stickslip/sweep/random_numbers.hpp"
#include "stickslip/sweep/sweep_plan.hpp"

namespace stickslip::sweep_test {
namespace {

std::vector<double> column(const SweepPlan& plan, std::size_t axis) {
  std::vector<double> values;
  for (long k = 0; k < plan.size(); ++k) values.push_back(plan.value(k, axis));
  return values;
}

TEST(SweepPlan, grid_has_all_combinations_and_its_last_axis_changes_fastest) {
  const SweepPlan plan({{"a", {1, 2}}, {"b", {5, 6, 7}}}, {});
  EXPECT_EQ(column(plan, 0), (std::vector<double>{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(column(plan, 1), (std::vector<double>{5, 6, 7, 5, 6, 7}));
}

TEST(SweepPlan, zip_goes_through_its_lists_together_and_refuses_unequal_ones) {
  const SweepPlan plan({{"a", {1, 2}}, {"b", {5, 6}}}, {SweepKind::zip});
  EXPECT_EQ(column(plan, 0), (std::vector<double>{1, 2}));
  EXPECT_EQ(column(plan, 1), (std::vector<double>{5, 6}));
  EXPECT_THROW(SweepPlan({{"a", {1, 2}}, {"b", {5}}}, {SweepKind::zip}), InputError);
}

TEST(SweepPlan, what_cannot_be_run_is_refused) {
  EXPECT_THROW(SweepPlan({}, {}), InputError);
  EXPECT_THROW(SweepPlan({{"a", {}}}, {}), InputError);
  EXPECT_THROW(SweepPlan({{"a", {1}}}, {SweepKind::random}), InputError);  // no count
  const std::vector<double> many(1000, 1.0);
  EXPECT_THROW(SweepPlan({{"a", many}, {"b", many}, {"c", many}}, {}), InputError);  // 1e9
}

TEST(SweepPlan, draws_depend_on_seed_key_and_number_alone) {
  const Distribution uniform{DistributionKind::uniform, 2, 5};
  const SweepPlan few({{"a", {}, uniform}}, {SweepKind::random, 5, 7});
  const SweepPlan many({{"b", {}, uniform}, {"a", {}, uniform}}, {SweepKind::random, 50, 7});
  for (long k = 0; k < few.size(); ++k) EXPECT_EQ(few.value(k, 0), many.value(k, 1));
  EXPECT_NE(column(few, 0), column(SweepPlan({{"a", {}, uniform}}, {SweepKind::random, 5, 8}), 0));
  for (const double x : column(many, 0)) EXPECT_TRUE(x > 2 && x < 5);
}

TEST(SweepPlan, latin_hypercube_has_one_draw_in_each_part_of_every_axis) {
  const long count = 40;
  const Distribution uniform{DistributionKind::uniform, 0, 1};
  const SweepPlan plan({{"a", {}, uniform}, {"b", {}, uniform}}, {SweepKind::latin, count, 3});
  for (const std::size_t axis : {0u, 1u}) {
    std::set<long> parts;
    for (const double x : column(plan, axis))
      parts.insert(static_cast<long>(std::floor(x * static_cast<double>(count))));
    EXPECT_EQ(parts.size(), static_cast<std::size_t>(count));
  }
}

TEST(SweepPlan, distributions_have_their_quantiles) {
  EXPECT_DOUBLE_EQ((Distribution{DistributionKind::normal, 3, 2}).quantile(0.5), 3);
  EXPECT_NEAR((Distribution{DistributionKind::normal, 0, 1}).quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR((Distribution{DistributionKind::lognormal, 4, 1}).quantile(0.5), 4, 1e-14);
  EXPECT_NEAR((Distribution{DistributionKind::loguniform, 1, 100}).quantile(0.5), 10, 1e-13);
  // Cut off at its median, what is left has its middle where the whole has three quarters.
  const Distribution half{DistributionKind::normal, 0, 1, 0, HUGE_VAL};
  EXPECT_NEAR(half.quantile(0.5), 0.6744897501960817, 1e-13);
}

TEST(RandomNumbers, are_the_same_everywhere_and_fill_their_interval) {
  // As on the first machine: a sweep that is repeated elsewhere, or later, has the same draws.
  EXPECT_EQ(random_bits(1, 2, 3), 15532234798017984886u);
  EXPECT_EQ(random_uniform(1, stream_of("k"), 0), 0.71663686153540951);
  EXPECT_NE(random_bits(1, 2, 3), random_bits(1, 3, 2));
  double sum = 0, squares = 0;
  const int n = 100000;
  for (int k = 0; k < n; ++k) {
    const double u = random_uniform(5, 6, static_cast<std::uint64_t>(k));
    EXPECT_TRUE(u > 0 && u < 1);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / n, 0.5, 4 / std::sqrt(12.0 * n));  // four standard errors
  EXPECT_NEAR(squares / n, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / n));
  std::vector<long> order = random_order(100, 1, 1);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (long k = 0; k < 100; ++k) EXPECT_EQ(order[static_cast<std::size_t>(k)], k);
}

SweepRecord sample(long index) {
  SweepRecord record;
  record.index = index;
  record.names = std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"a", "b,\n\"c"});
  record.values = {static_cast<double>(index), NAN};
  return record;
}

TEST(SweepRecord, bytes_give_back_what_they_were_made_of) {
  SweepRecord with_table = sample(3);
  with_table.status = Status::not_converged;
  with_table.message = "no, \xc3\xa9";
  with_table.blocks = {{"trajectory", {"t", "x"}, {0, 1, 2, 3}}, {"none", {}, {}}};
  std::string bytes;
  RecordEncoder encoder;
  encoder.encode(sample(1), bytes);
  const std::size_t first = bytes.size();
  encoder.encode(with_table, bytes);
  std::vector<SweepRecord> read;
  std::vector<std::size_t> places;
  RecordDecoder decoder;
  EXPECT_EQ(decoder.decode(bytes,
                           [&](SweepRecord&& record, std::size_t place, std::size_t) {
                             read.push_back(std::move(record));
                             places.push_back(place);
                           }),
            bytes.size());
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].index, 3);
  EXPECT_EQ(read[1].status, Status::not_converged);
  EXPECT_EQ(read[1].message, with_table.message);
  EXPECT_EQ(*read[1].names, *with_table.names);
  EXPECT_EQ(read[0].names, read[1].names);  // one list for both
  EXPECT_TRUE(read[1].values[0] == 3 && std::isnan(read[1].values[1]));
  const std::vector<SweepBlock> blocks = decode_blocks(std::string_view(bytes).substr(places[1]));
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].columns, (std::vector<std::string>{"t", "x"}));
  EXPECT_EQ(blocks[0].values, (std::vector<double>{0, 1, 2, 3}));
  EXPECT_GE(places[1], first);
}

TEST(SweepRecord, stream_that_was_cut_or_changed_ends_before_the_broken_frame) {
  std::string bytes;
  RecordEncoder encoder;
  encoder.encode(sample(0), bytes);
  const std::size_t whole = bytes.size();
  encoder.encode(sample(1), bytes);
  const auto records = [](std::string_view given, std::size_t& used) {
    long count = 0;
    used = RecordDecoder().decode(given, [&](SweepRecord&&, std::size_t, std::size_t) { ++count; });
    return count;
  };
  std::size_t used = 0;
  for (std::size_t size = whole; size < bytes.size(); ++size) {
    EXPECT_EQ(records(std::string_view(bytes).substr(0, size), used), 1) << size;
    EXPECT_EQ(used, whole);
  }
  for (std::size_t at = whole; at < bytes.size(); ++at) {  // every byte of the second frame is checked
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ 0x20);
    EXPECT_EQ(records(broken, used), 1) << at;
  }
}

SweepProblem counted(long runs, std::vector<std::atomic<int>>& times) {
  std::vector<long> all(static_cast<std::size_t>(runs));
  std::iota(all.begin(), all.end(), 0L);
  return {std::move(all), [&times](long index) {
            ++times[static_cast<std::size_t>(index)];
            return sample(index);
          }};
}

TEST(Sweep, every_run_is_done_once_on_any_number_of_threads) {
  for (const int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> times(500);
    std::set<long> seen;
    SweepHooks hooks;
    hooks.on_records = [&](std::vector<SweepRecord>&& records) {
      for (const SweepRecord& record : records) EXPECT_TRUE(seen.insert(record.index).second);
    };
    const SweepSolution solution = run_sweep(counted(500, times), {threads}, hooks);
    EXPECT_EQ(solution.status, Status::success);
    EXPECT_EQ(solution.done, 500);
    EXPECT_EQ(seen.size(), 500u);
    for (const auto& count : times) EXPECT_EQ(count, 1);
  }
}

TEST(Sweep, stop_ends_it_and_keeps_what_was_complete) {
  std::atomic<bool> stop = false;
  long stored = 0;
  SweepProblem problem;
  problem.pending.resize(100000);
  std::iota(problem.pending.begin(), problem.pending.end(), 0L);
  problem.run = [&](long index) {
    if (index == 20) stop = true;
    return sample(index);
  };
  SweepHooks hooks;
  hooks.on_records = [&](std::vector<SweepRecord>&& records) { stored += static_cast<long>(records.size()); };
  const SweepSolution solution = run_sweep(problem, {2, &stop}, hooks);
  EXPECT_EQ(solution.status, Status::interrupted);
  EXPECT_EQ(solution.done, stored);
  EXPECT_GE(stored, 20);
  EXPECT_LT(stored, 100000);
}

TEST(Sweep, what_a_run_throws_ends_the_sweep) {
  SweepProblem problem{{0, 1, 2}, [](long index) -> SweepRecord {
                         if (index == 1) throw std::runtime_error("out of luck");
                         return sample(index);
                       }};
  EXPECT_THROW(run_sweep(problem, {2}, {}), std::runtime_error);
}

TEST(Sweep, batches_last_a_tenth_of_a_second_and_leave_others_their_part) {
  EXPECT_EQ(batch_size(0, 4, 8, 1000), 4);          // nothing known yet: one each
  EXPECT_EQ(batch_size(1e-3, 1, 2, 1000000), 100);  // a tenth of a second
  EXPECT_EQ(batch_size(10, 2, 4, 1000000), 2);      // long runs: one each
  EXPECT_EQ(batch_size(1e-6, 1, 2, 8), 2);          // near the end: a fair part of what is left
}

/// Another process, played by a thread's worth of work inside poll().
class PlayedHelper final : public SweepHelpers {
 public:
  void poll(std::vector<SweepRecord>& records, std::vector<Asking>& asking) override {
    for (; !given_.empty(); given_.pop_front()) records.push_back(sample(given_.front()));
    if (!asked_) asking.push_back({1, 1, 1e-3});
    asked_ = true;
  }
  void give(int helper, std::span<const long> indices) override {
    EXPECT_EQ(helper, 1);
    given_.insert(given_.end(), indices.begin(), indices.end());
    helped += static_cast<long>(indices.size());
    asked_ = false;
  }
  void dismiss(bool stopped) override {
    ++dismissals;
    EXPECT_FALSE(stopped);
  }
  int count() const override { return 1; }
  long helped = 0;
  int dismissals = 0;

 private:
  std::deque<long> given_;
  bool asked_ = false;
};

TEST(Sweep, helpers_take_their_part_and_are_sent_home_once) {
  PlayedHelper helper;
  std::set<long> seen;
  SweepProblem problem;
  problem.pending.resize(300);
  std::iota(problem.pending.begin(), problem.pending.end(), 0L);
  problem.run = [](long index) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return sample(index);
  };
  SweepHooks hooks;
  hooks.on_records = [&](std::vector<SweepRecord>&& records) {
    for (const SweepRecord& record : records) EXPECT_TRUE(seen.insert(record.index).second);
  };
  EXPECT_EQ(run_sweep(problem, {1}, hooks, &helper).status, Status::success);
  EXPECT_EQ(seen.size(), 300u);
  EXPECT_GT(helper.helped, 0);
  EXPECT_LT(helper.helped, 300);
  EXPECT_EQ(helper.dismissals, 1);
}

}  // namespace
}  // namespace stickslip::sweep_test
