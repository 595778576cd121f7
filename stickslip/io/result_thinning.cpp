// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/result_thinning.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {
namespace {

/// Running extremes of one column over one group.
struct Extremes {
  double lowest = 0, highest = 0;
  long low = -1, high = -1, gap = -1;
  void add(double y, long row) {
    if (!std::isfinite(y)) {
      gap = row;
      return;
    }
    if (low < 0 || y < lowest) lowest = y, low = row;
    if (high < 0 || y > highest) highest = y, high = row;
  }
};

struct WatchedColumn {
  RowMatrix ResultRows::*table;
  Index column;
};

std::vector<WatchedColumn> watched(const ResultStream& result, long most) {
  ResultRows none;
  result.read_rows(0, 0, none);
  std::vector<WatchedColumn> columns;
  for (RowMatrix ResultRows::*table :
       {&ResultRows::position, &ResultRows::velocity, &ResultRows::reaction, &ResultRows::smooth, &ResultRows::energy})
    for (const long column : even_rows((none.*table).cols(), most)) columns.push_back({table, column});
  return columns;
}

EnergyLedger ledger(const RowMatrix& energy, Index row) {
  EnergyLedger e;
  if (energy.cols() < 9) return e;
  e.kinetic = energy(row, 0);
  e.potential = energy(row, 1);
  e.work_in = energy(row, 2);
  e.friction_loss = energy(row, 3);
  e.damper_loss = energy(row, 4);
  e.impact_loss = energy(row, 5);
  e.correction = energy(row, 7);
  e.initial = energy(row, 8);
  return e;
}

}  // namespace

std::vector<long> even_rows(long rows, long count) {
  std::vector<long> chosen;
  const long n = std::min(rows, std::max(count, 2L));
  for (long k = 0; k < n; ++k) chosen.push_back(n == 1 ? 0 : k * (rows - 1) / (n - 1));
  return chosen;
}

std::vector<long> envelope_rows(const ResultStream& result, const ThinningLimits& limits,
                                const std::function<bool(double)>& keep_going) {
  const TrajectoryNames& names = result.names();
  const long total = result.rows(), width = static_cast<long>(10 + names.coordinates.size() +
                                                              2 * names.velocities.size() + 2 * names.reactions.size());
  const long most = std::max(limits.rows, limits.numbers / width);
  if (total <= most) return even_rows(total, total);
  const std::vector<WatchedColumn> columns = watched(result, limits.columns);
  const long groups = std::max(1L, most / (1 + 2 * static_cast<long>(columns.size())));
  const long block = result.block_rows();
  std::vector<long> chosen;
  std::vector<Extremes> extremes(columns.size());
  long group = 0;
  auto close_group = [&](long first) {
    const auto begin = static_cast<std::ptrdiff_t>(chosen.size());
    chosen.push_back(first);
    for (const Extremes& e : extremes)
      for (const long row : {e.low, e.high, e.gap})
        if (row >= 0) chosen.push_back(row);
    std::sort(chosen.begin() + begin, chosen.end());
    chosen.erase(std::unique(chosen.begin() + begin, chosen.end()), chosen.end());
    std::fill(extremes.begin(), extremes.end(), Extremes{});
  };
  ResultRows rows;
  for (long first = 0; first < total; first += block) {
    if (keep_going && !keep_going(static_cast<double>(first) / static_cast<double>(total))) break;
    result.read_rows(first, std::min(block, total - first), rows);
    for (Index i = 0; i < rows.rows(); ++i) {
      const long row = first + static_cast<long>(i);
      for (std::size_t c = 0; c < columns.size(); ++c)
        extremes[c].add((rows.*columns[c].table)(i, columns[c].column), row);
      if (row + 1 < total * (group + 1) / groups) continue;
      close_group(total * group / groups);
      ++group;
    }
  }
  if (chosen.empty() || chosen.back() != total - 1) chosen.push_back(total - 1);
  return chosen;
}

Trajectory read_trajectory(const ResultStream& result, const std::vector<long>& chosen, bool points) {
  const TrajectoryNames& names = result.names();
  const auto nq = static_cast<Index>(names.coordinates.size()), nv = static_cast<Index>(names.velocities.size());
  const auto laws = static_cast<std::ptrdiff_t>(names.laws.size());
  Trajectory trajectory(names, nq, nv, static_cast<Index>(chosen.size()));
  trajectory.rows_of_run = result.rows();
  const long block = result.block_rows();
  ResultRows rows;
  OutputRow row;
  for (std::size_t k = 0; k < chosen.size();) {
    // From here to the last chosen row within one block; a lone row is read alone.
    std::size_t end = k + 1;
    while (end < chosen.size() && chosen[end] < chosen[k] + block) ++end;
    const long first = chosen[k];
    result.read_rows(first, chosen[end - 1] - first + 1, rows);
    for (; k < end; ++k) {
      const auto i = static_cast<Index>(chosen[k] - first);
      row.t = rows.t[static_cast<std::size_t>(i)];
      row.q = rows.position.row(i);
      row.v = rows.velocity.row(i);
      row.reaction = rows.reaction.row(i);
      if (names.smooth_part) row.smooth = rows.smooth.row(i);
      if (names.friction_velocity) row.friction_velocity = rows.friction_velocity.row(i);
      row.sensitivity.resize(static_cast<Index>(names.unknowns.empty() ? 0 : names.derivatives()),
                             static_cast<Index>(names.unknowns.size()));
      for (Index c = 0; c < rows.sensitivity.cols(); ++c) row.sensitivity.data()[c] = rows.sensitivity(i, c);
      row.energy = ledger(rows.energy, i);
      row.modes.assign(rows.modes.begin() + i * laws, rows.modes.begin() + (i + 1) * laws);
      if (points) result.read_points(chosen[k], row.point_forces);
      trajectory.append(row);
    }
  }
  return trajectory;
}

std::vector<Event> thinned_events(const ResultStream& result, const ThinningLimits& limits) {
  constexpr long kBlock = 1 << 16;
  const long total = result.events();
  std::vector<Event> events, block;
  if (total <= limits.events) {
    if (total > 0) result.read_events(0, total, events);
    return events;
  }
  result.read_events(0, 1, block);
  const double begin = block[0].t;
  result.read_events(total - 1, 1, block);
  const std::size_t laws = result.names().laws.size();
  const double parts = std::max(1.0, static_cast<double>(limits.events) / static_cast<double>(laws));
  const double width = std::max((block[0].t - begin) / parts, 1e-300);
  std::vector<std::ptrdiff_t> last(laws, -1);  // index into `events` of the law's event in the part under way
  double part = 0;
  for (long first = 0; first < total; first += kBlock) {
    result.read_events(first, std::min(kBlock, total - first), block);
    for (const Event& event : block) {
      if (const double at = std::floor((event.t - begin) / width); at > part) {
        part = at;
        std::fill(last.begin(), last.end(), -1);
      }
      std::ptrdiff_t& kept = last[static_cast<std::size_t>(event.law)];
      if (kept >= 0) {
        const Mode before = events[static_cast<std::size_t>(kept)].before;
        events[static_cast<std::size_t>(kept)] = event;
        events[static_cast<std::size_t>(kept)].before = before;
      } else {
        kept = static_cast<std::ptrdiff_t>(events.size());
        events.push_back(event);
      }
    }
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.t < b.t; });
  return events;
}

}  // namespace stickslip
