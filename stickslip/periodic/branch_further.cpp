// SPDX-License-Identifier: Apache-2.0
// Branches beside the first: look_further() of branch_follower.hpp.
#include <algorithm>
#include <cmath>

#include "stickslip/continuation/further_solutions.hpp"
#include "stickslip/periodic/branch_follower.hpp"

namespace stickslip {

namespace {

/// Where paths pass `value`, solved there.
std::vector<Vector> solutions_at(OrbitPath& problem, const std::vector<PathPoints>& paths, const PathOptions& options,
                                 double value) {
  std::vector<Vector> found;
  for (const PathPoints& points : paths)
    for (std::size_t k = 0; k + 1 < points.size(); ++k) {
      const double a = points[k].s - value, b = points[k + 1].s - value;
      if (a * b > 0) continue;
      Vector x = points[k].x + (b == a ? 0.0 : -a / (b - a)) * (points[k + 1].x - points[k].x);
      if (solve_at(problem, value, options, x)) found.push_back(x);
    }
  return found;
}

constexpr double kSame = 1e-4;  // of its size: the same solution
bool is_among(const Vector& x, const std::vector<Vector>& list) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Vector& k) { return (x - k).norm() < kSame * (1 + k.norm()); });
}

/// The equations alone: nothing is located on the way.
class PlainPath final : public PathProblem {
 public:
  explicit PlainPath(PathProblem& problem) : problem_(problem) {}
  Index size() const override { return problem_.size(); }
  bool residual(const Vector& x, double s, Vector& F) override { return problem_.residual(x, s, F); }
  bool jacobian(const Vector& x, double s, DenseMatrix& by_x, Vector& by_s) override {
    return problem_.jacobian(x, s, by_x, by_s);
  }
  double magnitude(const Vector& x, double s) override { return problem_.magnitude(x, s); }

 private:
  PathProblem& problem_;
};

/// Where the path through x at the border `value` of the range comes back into it. Empty: it does not, as far as it was
/// followed.
Vector come_back(const BranchFollower& follower, OrbitPath& problem, const Vector& x, double value, double& at) {
  constexpr double kWays = 2, kOfValue = 0.2;  // how far outside folds are looked for
  constexpr long kMostPoints = 400;
  constexpr double kCoarse = 0.1;  // of folds, which are not asked for
  const double low = follower.lowest(), high = follower.highest(), outward = value == high ? 1 : -1;
  const double reach = std::max(kWays * follower.way(), kOfValue * std::max(std::abs(low), std::abs(high)));
  PathOptions along = path_options(follower.options_, value, outward, follower.stop_);
  along.to = value + outward * reach;
  along.lowest = low - reach;
  along.highest = high + reach;
  along.step = std::min(along.step, 0.01 * reach);
  along.largest_step = 0.02;
  along.location_tolerance = kCoarse;
  along.max_points = kMostPoints;
  PlainPath plain(problem);
  Vector before = x, found;
  double s = value;
  follow_path(plain, x, along, [&](const PathPoint& point, Index number) {
    for (const double border : {low, high})
      if (number > 0 && found.size() == 0 && (s < low || s > high) && (s - border) * (point.s - border) < 0) {
        found = before + (border - s) / (point.s - s) * (point.x - before);
        at = border;
        if (!solve_at(problem, border, along, found)) found.resize(0);
      }
    before = point.x;
    s = point.s;
    return found.size() == 0 && !raised(follower.stop_);
  });
  return found;
}

/// The same branch outside the range: through folds there it comes back as other motions.
void follow_beyond(BranchFollower& follower, OrbitPath& problem, std::vector<PathPoints>& paths, std::size_t& done,
                   int& number) {
  const double low = follower.lowest(), high = follower.highest();
  for (; done < paths.size(); ++done)  // grows on the way
    for (const bool last : {false, true}) {
      if (paths[done].size() < 2 || number > follower.further_ || raised(follower.stop_)) continue;
      const PathPoint end = last ? paths[done].back() : paths[done].front();
      if (end.s != low && end.s != high) continue;
      double at = 0;
      const Vector x = come_back(follower, problem, end.x, end.s, at);
      if (x.size() == 0) continue;
      const PathOptions options = path_options(follower.options_, at, 0, follower.stop_);
      if (is_among(x, solutions_at(problem, paths, options, at))) continue;
      paths.push_back(follower.follow(problem, x, at, at == low ? 1 : -1, number, false).points);
      ++number;
    }
}

/// Further solutions at `value` beside those of known paths, from several starts; each followed both ways.
void follow_further(BranchFollower& follower, OrbitPath& problem, std::vector<PathPoints>& paths,
                    const std::vector<Vector>& more_starts, double value, int& number) {
  constexpr Index kDirections = 4;  // unknowns that starts are moved along, by parts of their size
  const PathOptions options = path_options(follower.options_, value, 0, follower.stop_);
  std::vector<Vector> known = solutions_at(problem, paths, options, value), starts = more_starts;
  if (known.empty() || number > follower.further_) return;
  for (const Vector& x : known) {
    for (const double factor : {1.5, 0.5, 3.0, -1.0}) starts.push_back(factor * x);
    for (Index k = 0; k < std::min<Index>(x.size(), kDirections); ++k)
      for (const double way : {0.5, -0.5, 2.0, -2.0}) starts.push_back(x + way * Vector::Unit(x.size(), k));
  }
  std::vector<Vector> found;
  find_further_solutions(problem, value, options, std::move(starts), known, [&](const Vector& x) {
    found.push_back(x);
    return number + static_cast<int>(found.size()) <= follower.further_;
  });
  for (const Vector& x : found) {
    if (raised(follower.stop_)) return;
    // The path of one found before may have come here already.
    const std::vector<Vector> passed = solutions_at(problem, paths, options, value);
    if (is_among(x, passed)) continue;
    bool again = false;
    for (const double heading : {1.0, -1.0}) {
      if (value == (heading > 0 ? follower.highest() : follower.lowest())) continue;
      paths.push_back(follower.follow(problem, x, value, heading, number, again).points);
      again = true;
    }
    ++number;
  }
}

}  // namespace

void look_further(BranchFollower& follower, OrbitPath& problem, const PathPoints& points,
                  const std::function<std::vector<Vector>(double)>& starts) {
  const BranchOptions& options = follower.options_;
  std::vector<PathPoints> paths{points};
  std::size_t done = 0;
  int number = 1;
  follow_beyond(follower, problem, paths, done, number);
  for (const double value : {options.from, options.to, 0.5 * (options.from + options.to)}) {
    if (number > follower.further_ || raised(follower.stop_)) return;
    follow_further(follower, problem, paths, starts(value), value, number);
    follow_beyond(follower, problem, paths, done, number);
  }
}

}  // namespace stickslip
