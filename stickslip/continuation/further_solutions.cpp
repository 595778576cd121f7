// SPDX-License-Identifier: Apache-2.0
#include "stickslip/continuation/further_solutions.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/continuation/deflation.hpp"

namespace stickslip {

namespace {

constexpr double kSame = 1e-4;  // of its size: the same solution

class NewtonHomotopy final : public PathProblem {
 public:
  NewtonHomotopy(PathProblem& problem, double s, Vector F0) : problem_(problem), s_(s), F0_(std::move(F0)) {}
  Index size() const override { return problem_.size(); }
  bool residual(const Vector& x, double lambda, Vector& H) override {
    if (!problem_.residual(x, s_, H)) return false;
    H -= (1 - lambda) * F0_;
    return true;
  }
  bool jacobian(const Vector& x, double, DenseMatrix& by_x, Vector& by_lambda) override {
    if (!problem_.jacobian(x, s_, by_x, unused_)) return false;
    by_lambda = F0_;
    return true;
  }

 private:
  PathProblem& problem_;
  double s_;
  Vector F0_, unused_;
};

class Search {
 public:
  Search(PathProblem& problem, double s, const PathOptions& options, std::vector<Vector>& known,
         const std::function<bool(const Vector&)>& on_found)
      : problem_(problem), s_(s), options_(options), known_(known), on_found_(on_found) {}

  bool over() const { return over_ || raised(options_.stop); }

  void deflate(std::vector<Vector> starts) {
    for (std::size_t at = 0; at < starts.size() && !over(); ++at) {
      DeflatedProblem deflated(problem_, known_);
      Vector x = starts[at];
      if (!solve_at(deflated, s_, options_, x) || !take(x)) continue;
      for (std::size_t k = 0; k + 1 < known_.size(); ++k)
        for (const double part : {0.5, 0.25, 0.75}) starts.push_back(x + part * (known_[k] - x));
    }
  }

  /// Both ways from x0.
  void follow_homotopy(const Vector& x0) {
    for (const double heading : {1.0, -1.0}) follow_homotopy(x0, heading);
  }

 private:
  void follow_homotopy(const Vector& x0, double heading) {
    constexpr double kFarthest = 8;  // of λ on either side: beyond, the path has left
    constexpr double kTurn = 0.7, kCoarse = 0.1;
    constexpr long kMostPoints = 500;
    Vector F0;
    if (over() || !problem_.residual(x0, s_, F0) || !(F0.norm() > 0)) return;
    const double size = std::max(x0.norm(), known_.empty() ? 0.0 : known_.front().norm());
    if (!(size > 0)) return;
    NewtonHomotopy homotopy(problem_, s_, F0);
    PathOptions along = options_;
    along.from = 0;
    along.to = 1;
    along.lowest = -kFarthest;
    along.highest = 1 + kFarthest;
    along.heading = heading;
    along.step = 0.05;
    along.largest_step = 0.2;
    along.largest_turn = kTurn;
    along.location_tolerance = kCoarse;  // of folds, which are not asked for
    along.max_points = kMostPoints;
    along.first_along_s = true;
    along.x_scale = Vector::Constant(x0.size(), size / std::sqrt(static_cast<double>(x0.size())));
    along.on_special = {};
    Vector before;
    double lambda = 0;
    const PathHook watch = [&](const PathPoint& point, Index) {
      if (before.size() > 0 && (lambda - 1) * (point.s - 1) <= 0 && lambda != point.s) {
        Vector x = before + (1 - lambda) / (point.s - lambda) * (point.x - before);
        take(x);
      }
      before = point.x;
      lambda = point.s;
      return !over();
    };
    follow_path(homotopy, x0, along, watch);
  }

  bool take(Vector& x) {
    if (!solve_at(problem_, s_, options_, x)) return false;
    const auto same = [&](const Vector& k) { return (x - k).norm() < kSame * (1 + k.norm()); };
    if (std::any_of(known_.begin(), known_.end(), same)) return false;
    known_.push_back(x);
    over_ = !on_found_(x);
    return true;
  }

  PathProblem& problem_;
  double s_;
  const PathOptions& options_;
  std::vector<Vector>& known_;
  const std::function<bool(const Vector&)>& on_found_;
  bool over_ = false;
};

}  // namespace

void find_further_solutions(PathProblem& problem, double s, const PathOptions& options, std::vector<Vector> starts,
                            std::vector<Vector>& known, const std::function<bool(const Vector&)>& on_found) {
  Search search(problem, s, options, known, on_found);
  search.deflate(starts);
  for (std::size_t k = 0; k < known.size(); ++k) {  // grows on the way
    const Vector x = known[k];
    for (std::size_t j = 0; j < k; ++j) {
      const Vector other = known[j];
      for (const double part : {0.2, 0.35, 0.65, 0.8}) search.follow_homotopy(x + part * (other - x));
    }
    for (const double factor : {1.2, 0.8}) search.follow_homotopy(factor * x);
    if (search.over()) return;
  }
}

}  // namespace stickslip
