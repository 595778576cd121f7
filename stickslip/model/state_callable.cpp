// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/state_callable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Arrays of one thread, lent one inside the other: a function may evaluate another one. Entries keep old values.
template <class Scalar>
class Borrowed {
 public:
  explicit Borrowed(std::size_t size) {
    if (depth_ == pool_.size()) pool_.push_back(std::make_unique<std::vector<Scalar>>());
    values_ = pool_[depth_++].get();
    if (values_->size() < size) values_->resize(size, Scalar(0.0));
    size_ = size;
  }
  ~Borrowed() { --depth_; }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Scalar& operator[](Index slot) { return (*values_)[static_cast<std::size_t>(slot)]; }
  std::span<const Scalar> span() const { return {values_->data(), size_}; }

 private:
  inline static thread_local std::vector<std::unique_ptr<std::vector<Scalar>>> pool_;
  inline static thread_local std::size_t depth_ = 0;
  std::vector<Scalar>* values_;
  std::size_t size_;
};

void append_slots(const std::optional<std::vector<Index>>& chosen, Index first, Index count, const char* kind,
                  const std::string& text, std::vector<Index>& slots) {
  if (!chosen) {
    for (Index k = 0; k < count; ++k) slots.push_back(first + k);
    return;
  }
  for (const Index k : *chosen) {
    if (k < 0 || k >= count)
      throw InputError(fmt::format("'{}' is said to depend on {} {}, but it takes {} of them", text, kind, k, count));
    slots.push_back(first + k);
  }
}

}  // namespace

StateCallable::StateCallable(Index nq, Index nv, int arguments, CallableFacts facts)
    : facts_(std::move(facts)), nq_(nq), nv_(nv), arguments_(arguments) {
  if (facts_.time) used_.push_back(0);
  append_slots(facts_.positions, 1, arguments >= 2 ? nq : 0, "position", facts_.text, used_);
  append_slots(facts_.velocities, 1 + nq, arguments >= 3 ? nv : 0, "velocity", facts_.text, used_);
  if (arguments >= 4) used_.push_back(1 + nq + nv);
  std::ranges::sort(used_);
  used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
  std::ranges::sort(facts_.breakpoints);
}

template <class Scalar, class Entry>
Scalar StateCallable::seeded(std::span<const double> x, Entry&& entry) const {
  Borrowed<Scalar> y(x.size());
  for (const Index slot : used_) y[slot] = entry(slot, x[static_cast<std::size_t>(slot)]);
  return evaluate(y.span());
}

double StateCallable::derivative(std::span<const double> x, Index wrt) const {
  if (!std::ranges::binary_search(used_, wrt)) return 0.0;
  return seeded<Dual>(x, [wrt](Index slot, double value) { return Dual(value, slot == wrt ? 1.0 : 0.0); }).slope;
}

Dual StateCallable::directional(std::span<const double> x, std::span<const double> direction) const {
  return seeded<Dual>(x,
                      [&](Index slot, double value) { return Dual(value, direction[static_cast<std::size_t>(slot)]); });
}

double StateCallable::second_derivative(std::span<const double> x, Index i, Index j) const {
  if (!std::ranges::binary_search(used_, i) || !std::ranges::binary_search(used_, j)) return 0.0;
  const auto entry = [i, j](Index slot, double value) {
    return SecondDual(Dual(value, slot == i ? 1.0 : 0.0), Dual(slot == j ? 1.0 : 0.0));
  };
  return seeded<SecondDual>(x, entry).slope.slope;
}

Taylor StateCallable::series(std::span<const double> x, Index along, double rate) const {
  return seeded<Taylor>(x, [&](Index slot, double value) { return Taylor(value, slot == along ? rate : 0.0); });
}

namespace {

constexpr int kSamples = 8;
constexpr double kReach = 3.0;  // of the random points, in the units of the model

class RandomPoint {
 public:
  RandomPoint(const StateCallable& f, std::size_t size) : f_(f), x_(size, 0.0) {}
  /// Anew in the slots that f uses, or in all others.
  void draw(bool used) {
    for (std::size_t s = 0; s < x_.size(); ++s)
      if (std::ranges::binary_search(f_.variables_used(), static_cast<Index>(s)) == used) x_[s] = uniform_(random_);
  }
  double number() { return uniform_(random_) / kReach; }
  std::span<const double> span() const { return x_; }

 private:
  const StateCallable& f_;
  std::vector<double> x_;
  std::mt19937 random_{20045};
  std::uniform_real_distribution<double> uniform_{-kReach, kReach};
};

/// f, f' and f'' along a direction.
std::array<double, 3> along(const StateCallable& f, std::span<const double> x, std::span<const double> direction) {
  Borrowed<SecondDual> y(x.size());
  for (const Index slot : f.variables_used()) {
    const auto s = static_cast<std::size_t>(slot);
    y[slot] = SecondDual(Dual(x[s], direction[s]), Dual(direction[s], 0.0));
  }
  const SecondDual result = f.evaluate(y.span());
  return {result.value.value, result.value.slope, result.slope.slope};
}

}  // namespace

void StateCallable::verify() const {
  const auto size = static_cast<std::size_t>(2 + nq_ + nv_);
  const bool declared = !facts_.time || facts_.positions || facts_.velocities;
  RandomPoint point(*this, size);
  for (int sample = 0; declared && sample < kSamples; ++sample) {
    point.draw(true);
    const double before = evaluate(point.span());
    point.draw(false);
    const double after = evaluate(point.span());
    if (before != after && std::isfinite(before) && std::isfinite(after))
      throw InputError(
          fmt::format("'{}' depends on more than it is said to: {} becomes {} where only other arguments "
                      "change; name all positions and velocities that it uses, and time",
                      facts_.text, before, after));
  }
  if (facts_.degree == Degree::any) return;
  // Differences have half of the digits; a function of a higher degree differs in the first one.
  constexpr double kNoise = 1e-6;
  std::vector<double> direction(size, 0.0);
  for (const Index slot : used_) direction[static_cast<std::size_t>(slot)] = point.number();
  double first = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    point.draw(true);
    const auto [value, slope, second] = along(*this, point.span(), direction);
    if (!std::isfinite(second)) continue;
    if (sample == 0 && facts_.degree == Degree::quadratic) first = second;
    if (std::abs(second - first) > kNoise * (std::abs(value) + std::abs(slope) + std::abs(first)))
      throw InputError(
          fmt::format("'{}' is said to be {}, but its second derivative along a line is {} at one point and "
                      "{} at another",
                      facts_.text, facts_.degree == Degree::quadratic ? "quadratic" : "affine", first, second));
  }
}

namespace callable_detail {

namespace {

/// Steps of differences along directions, at a point.
class Differences {
 public:
  template <class Scalar>
  Differences(const StateCallable& f, std::span<const Scalar> x)
      : f_(f), y_(x.size()), center_(x.size()), scale_(x.size()) {
    const ArgumentScale& given = f.facts().scale;
    double sizes[] = {given.time, given.position, given.velocity, 0.0};
    for (const Index slot : f.variables_used()) {
      center_[slot] = primal(x[static_cast<std::size_t>(slot)]);
      sizes[kind(slot)] = std::max(sizes[kind(slot)], std::abs(center_[slot]));
    }
    for (const Index slot : f.variables_used()) scale_[slot] = sizes[kind(slot)] > 0 ? sizes[kind(slot)] : 1.0;
  }

  double value() {
    return at(
        0, [](Index) { return 0.0; }, 0, [](Index) { return 0.0; });
  }
  template <class D>
  double first(D&& d) {
    const double tau = step(std::cbrt(kEpsilon), d);
    if (!(tau > 0)) return 0.0;
    const auto none = [](Index) { return 0.0; };
    return (at(tau, d, 0, none) - at(-tau, d, 0, none)) / (2 * tau);
  }
  template <class A, class B>
  double second(A&& a, B&& b) {
    const double relative = std::sqrt(std::sqrt(kEpsilon));
    const double s = step(relative, a), r = step(relative, b);
    if (!(s > 0 && r > 0)) return 0.0;
    return (at(s, a, r, b) - at(s, a, -r, b) - at(-s, a, r, b) + at(-s, a, -r, b)) / (4 * s * r);
  }

 private:
  int kind(Index slot) const { return slot == 0 ? 0 : slot <= f_.nq() ? 1 : slot <= f_.nq() + f_.nv() ? 2 : 3; }
  /// A power of 2, so that x ± τ is exact for the unit directions.
  template <class D>
  double step(double relative, D&& d) {
    double largest = 0;
    for (const Index slot : f_.variables_used())
      if (kind(slot) < 3) largest = std::max(largest, std::abs(d(slot)) / scale_[slot]);
    return largest > 0 && std::isfinite(largest) ? std::exp2(std::round(std::log2(relative / largest))) : 0.0;
  }
  template <class A, class B>
  double at(double s, A&& a, double r, B&& b) {
    for (const Index slot : f_.variables_used()) y_[slot] = center_[slot] + (s * a(slot) + r * b(slot));
    return f_.evaluate(y_.span());
  }

  const StateCallable& f_;
  Borrowed<double> y_, center_, scale_;
};

}  // namespace

Dual Differenced::evaluate(std::span<const Dual> x) const {
  Differences at(*this, x);
  return {at.value(), at.first([&](Index slot) { return x[static_cast<std::size_t>(slot)].slope; })};
}

SecondDual Differenced::evaluate(std::span<const SecondDual> x) const {
  Differences at(*this, x);
  const auto a = [&](Index slot) { return x[static_cast<std::size_t>(slot)].value.slope; };
  const auto b = [&](Index slot) { return x[static_cast<std::size_t>(slot)].slope.value; };
  const auto c = [&](Index slot) { return x[static_cast<std::size_t>(slot)].slope.slope; };
  return {Dual(at.value(), at.first(a)), Dual(at.first(b), at.second(a, b) + at.first(c))};
}

Taylor Differenced::evaluate(std::span<const Taylor>) const {
  assert(false && "has_series() is false");
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace callable_detail

}  // namespace stickslip
