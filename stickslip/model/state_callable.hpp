// SPDX-License-Identifier: Apache-2.0
// A function of time and state that a program brings along, with its derivatives.
//
//   f(t), f(t, q), f(t, q, v) or f(t, q, v, i)      t a number, q and v spans of nq and nv numbers, i an index (Index)
//
// Two kinds:
//   generic   a template over the number type (a lambda of `auto` arguments). It is evaluated for double, Dual,
//             SecondDual and Taylor, so that its derivatives are exact; scalar_math.hpp has the mathematics. What it
//             compares, it compares by values: a derivative is that of the branch taken.
//   plain     double(double, span<const double>, span<const double>). Derivatives are central differences along the
//             direction d asked for, over ± τ d with τ max_i |d_i|/s_i = ε^(1/3) (first derivatives, error about
//             ε^(2/3) f) or ε^(1/4) (second ones, error about ε^(1/2) f), ε = 2.2e-16; s_i = max(|x_i|, the size of its
//             kind: |t|, |q|_∞ or |v|_∞, or what `facts.scale` says), 1 in the units of the model where all that is 0.
//             There is no power series over time, so that the exact flow of the event scheme is not available.
//
// Of either kind, nothing is known but what its author says (CallableFacts): no jump over time is searched for, and no
// proof is had that a step resolves what f does in between; error control alone sees it.
#pragma once

#include <cassert>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "stickslip/common/dual.hpp"
#include "stickslip/common/scalar_math.hpp"
#include "stickslip/common/taylor.hpp"
#include "stickslip/common/vector.hpp"

namespace stickslip {

/// Of a polynomial in (t, q, v): `quadratic` and below only if it is certain, `any` otherwise.
enum class Degree { constant, affine, quadratic, any };

/// What is small and large for the arguments of a plain function; 0: as the state says.
struct ArgumentScale {
  double time = 0;      ///< [s]
  double position = 0;  ///< [m, rad]
  double velocity = 0;  ///< [m/s, rad/s]
};

/// What the author of a function knows of it. Statements that random points disprove are refused (InputError).
struct CallableFacts {
  bool time = true;                                             ///< it depends on t
  std::optional<std::vector<Index>> positions = std::nullopt;   ///< that it depends on; all by default
  std::optional<std::vector<Index>> velocities = std::nullopt;  ///< likewise
  Degree degree = Degree::any;                                  ///< affine: rows are constant, the exact flow is open
  std::vector<double> breakpoints = {};                         ///< times at which it jumps or has a kink [s]
  ArgumentScale scale = {};                                     ///< plain functions: steps of the differences
  std::string text = "function of the program";                 ///< how messages and lists call it
};

class StateCallable {
 public:
  virtual ~StateCallable() = default;
  StateCallable(const StateCallable&) = delete;
  StateCallable& operator=(const StateCallable&) = delete;

  /// x = (t, q, v, i); entries that it does not depend on may hold anything.
  virtual double evaluate(std::span<const double> x) const = 0;
  virtual Dual evaluate(std::span<const Dual> x) const = 0;
  virtual SecondDual evaluate(std::span<const SecondDual> x) const = 0;
  /// Only where is_exact().
  virtual Taylor evaluate(std::span<const Taylor> x) const = 0;
  virtual bool is_exact() const = 0;  ///< generic

  double derivative(std::span<const double> x, Index wrt) const;
  Dual directional(std::span<const double> x, std::span<const double> direction) const;
  double second_derivative(std::span<const double> x, Index i, Index j) const;
  Taylor series(std::span<const double> x, Index along, double rate) const;

  const CallableFacts& facts() const { return facts_; }
  const std::vector<Index>& variables_used() const { return used_; }
  Index nq() const { return nq_; }
  Index nv() const { return nv_; }
  /// f(t) fits any system.
  bool fits(Index nq, Index nv) const { return arguments_ == 1 || (nq == nq_ && nv == nv_); }

 protected:
  /// `arguments`: how many of (t, q, v, i) the function takes.
  StateCallable(Index nq, Index nv, int arguments, CallableFacts facts);
  /// Throws InputError where random points disprove the facts.
  void verify() const;

 private:
  template <class Scalar, class Entry>
  Scalar seeded(std::span<const double> x, Entry&& entry) const;

  CallableFacts facts_;
  std::vector<Index> used_;  // ascending slots
  Index nq_, nv_;
  int arguments_;
};

namespace callable_detail {

template <class Scalar>
using Span = std::span<const Scalar>;

/// How many of (t, q, v, i) F takes with numbers of that type; 0: none of the forms above.
template <class F, class Scalar>
constexpr int arguments() {
  if constexpr (std::is_invocable_v<const F&, Scalar, Span<Scalar>, Span<Scalar>, Index>) {
    return 4;
  } else if constexpr (std::is_invocable_v<const F&, Scalar, Span<Scalar>, Span<Scalar>>) {
    return 3;
  } else if constexpr (std::is_invocable_v<const F&, Scalar, Span<Scalar>>) {
    return 2;
  } else {
    return std::is_invocable_v<const F&, Scalar> ? 1 : 0;
  }
}

template <class F, class Scalar>
Scalar call(const F& f, std::span<const Scalar> x, Index nq, Index nv) {
  constexpr int count = arguments<F, Scalar>();
  if constexpr (count == 1) {
    return Scalar(f(x[0]));
  } else {
    assert(static_cast<Index>(x.size()) > nq + nv);
    const auto q = x.subspan(1, static_cast<std::size_t>(nq));
    const auto v = x.subspan(1 + q.size(), static_cast<std::size_t>(nv));
    if constexpr (count == 2) return Scalar(f(x[0], q));
    if constexpr (count == 3) return Scalar(f(x[0], q, v));
    if constexpr (count == 4) return Scalar(f(x[0], q, v, static_cast<Index>(primal(x[1 + q.size() + v.size()]))));
  }
}

template <class F>
class Generic final : public StateCallable {
 public:
  Generic(Index nq, Index nv, F f, CallableFacts facts)
      : StateCallable(nq, nv, arguments<F, double>(), std::move(facts)), f_(std::move(f)) {
    verify();
  }
  double evaluate(std::span<const double> x) const override { return call(f_, x, nq(), nv()); }
  Dual evaluate(std::span<const Dual> x) const override { return call(f_, x, nq(), nv()); }
  SecondDual evaluate(std::span<const SecondDual> x) const override { return call(f_, x, nq(), nv()); }
  Taylor evaluate(std::span<const Taylor> x) const override { return call(f_, x, nq(), nv()); }
  bool is_exact() const override { return true; }

 private:
  F f_;
};

/// Derivatives by differences of evaluate(double).
class Differenced : public StateCallable {
 public:
  using StateCallable::evaluate;
  Dual evaluate(std::span<const Dual> x) const override;
  SecondDual evaluate(std::span<const SecondDual> x) const override;
  Taylor evaluate(std::span<const Taylor> x) const override;
  bool is_exact() const override { return false; }

 protected:
  using StateCallable::StateCallable;
};

template <class F>
class Plain final : public Differenced {
 public:
  using Differenced::evaluate;
  Plain(Index nq, Index nv, F f, CallableFacts facts)
      : Differenced(nq, nv, arguments<F, double>(), std::move(facts)), f_(std::move(f)) {
    verify();
  }
  double evaluate(std::span<const double> x) const override { return call(f_, x, nq(), nv()); }

 private:
  F f_;
};

template <class F>
concept Function = arguments < std::remove_cvref_t<F>,
double > () > 0;

}  // namespace callable_detail

/// Of either kind, as F allows.
template <callable_detail::Function F>
std::shared_ptr<const StateCallable> make_callable(Index nq, Index nv, F f, CallableFacts facts = {}) {
  if constexpr (callable_detail::arguments<F, Dual>() > 0) {
    return std::make_shared<callable_detail::Generic<F>>(nq, nv, std::move(f), std::move(facts));
  } else {
    return std::make_shared<callable_detail::Plain<F>>(nq, nv, std::move(f), std::move(facts));
  }
}

}  // namespace stickslip
