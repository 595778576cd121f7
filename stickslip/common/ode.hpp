// SPDX-License-Identifier: Apache-2.0
// Smooth initial value problems y' = f(t, y), y(t0) = y0, one step at a time, forward in t.
//
// An integrator chooses its step so that the estimated local error e of a step satisfies
//
//   sqrt( mean_i (e_i / w_i)² ) <= 1,    w_i = absolute_tolerance * absolute_scale_i + relative_tolerance * max|y_i|
//
// (maximum of the two ends of the step). Every accepted step has a dense output: one polynomial per component,
//
//   y_i(t) ≈ Σ_k c_ik sᵏ,   s = (t - t_old)/h in [0, 1], with h the size of the step.
//
// A step allocates nothing once restart() has seen the size of y.
//
// f is taken to be smooth between restarts: an event ends the run of steps, and restart() begins anew after it.
#pragma once

#include <functional>
#include <limits>
#include <span>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/function_ref.hpp"
#include "stickslip/common/vector.hpp"

namespace stickslip {

/// dydt = f(t, y), already of the right size. False: f cannot be evaluated there (a step went too far); the step is
/// reduced. Values that are not finite are taken as false.
using OdeFunction = FunctionRef<bool(double t, const Vector& y, Vector& dydt)>;

struct OdeOptions {
  double relative_tolerance = 1e-9;                               ///< > 0; below 1e-14 taken as 1e-14
  double absolute_tolerance = 1e-12;                              ///< >= 0
  Vector absolute_scale;                                          ///< per component, > 0; empty: all 1
  double first_step = 0;                                          ///< [s]; 0: chosen from f and its change
  double largest_step = std::numeric_limits<double>::infinity();  ///< [s]
  long max_steps = 10'000'000;                                    ///< accepted and rejected, since restart()
  bool dense_output = true;  ///< false saves 3 of 15 evaluations (Dormand-Prince); interpolate() is then not available
  StopRequest stop = nullptr;  ///< looked at before every evaluation of f

  /// Throws InputError.
  void validate() const;
};

enum class OdeStep {
  accepted,
  step_too_small,  ///< the tolerance cannot be met: the step fell to round-off of t, or f is not evaluable at t
  too_many_steps,
  stopped,  ///< on request
};

struct OdeCounters {
  long evaluations = 0;  ///< of f, without those of a Jacobian by differences
  long accepted = 0;
  long rejected = 0;
  long jacobians = 0;
  long factorisations = 0;  ///< pairs of one real and one complex matrix
  long newton_iterations = 0;
};

class OdeIntegrator {
 public:
  explicit OdeIntegrator(const OdeOptions& options);
  virtual ~OdeIntegrator() = default;

  /// Begins at (t, y). h_guess > 0: a step to try first; 0: options.first_step. Memory is kept if y has the size it
  /// had.
  void restart(double t, const Vector& y, double h_guess = 0);
  /// One accepted step from (t(), y()), not beyond t_limit > t(); it ends at t_limit exactly if it comes near. Anything
  /// but `accepted` leaves t() and y() as they were.
  OdeStep step(OdeFunction f, double t_limit);
  /// y1 = one step of size h from (t0, y0), without control of its error. Leaves (t(), y()) and the dense output as
  /// they are. False if f is not evaluable or the step's equations were not solved.
  virtual bool single_step(OdeFunction f, double t0, const Vector& y0, double h, Vector& y1) = 0;

  double t() const { return t_; }
  double t_old() const { return t_old_; }
  const Vector& y() const { return y_; }
  const Vector& y_old() const { return y_old_; }
  /// f(t(), y()), known after an accepted step.
  const Vector& dydt() const { return f_; }

  /// y ≈ y(t) for t_old() <= t <= t(): exactly y_old() and y() at the two ends.
  void interpolate(double t, Vector& y) const;
  /// The rate of that polynomial: y' with one order less.
  void interpolate_rate(double t, Vector& dydt) const;
  /// Degree of the dense output.
  virtual int degree() const = 0;
  /// Order p of the method: the error of one step of size h is O(hᵖ⁺¹).
  virtual int order() const = 0;
  /// c_0..c_degree of one component, in s.
  void coefficients(Index component, std::span<double> c) const;

  /// For a right-hand side with kinks, asked when an attempt has failed. begin(): true where f will from now on be a
  /// smooth function that is the same before the first kink; the step is then tried once more at its full length.
  /// end(): that is over, with a step or without. wanted(): begin() would be true; an implicit method asks before it
  /// takes its equations for solved, since Newton's iteration with the slopes of one side of a kink may take a residual
  /// of the other side for small.
  struct Continuation {
    std::function<bool()> begin;
    std::function<void(bool accepted)> end;
    std::function<bool()> wanted;
  };
  void set_continuation(Continuation continuation) { continuation_ = std::move(continuation); }

  /// Estimated error of the last accepted step in units of the tolerance that was asked for, as it would be where f has
  /// a kink: there a method is of no higher order than its estimate.
  double estimate_at_kinks() const { return estimate_at_kinks_; }
  /// The step that would be tried next if there were no limit.
  double suggested_step() const { return h_; }
  const OdeCounters& counters() const { return counters_; }
  const OdeOptions& options() const { return options_; }
  /// From the next step on; all > 0. For sizes of components that become known on the way.
  void set_absolute_scale(const Vector& scale) { options_.absolute_scale = scale; }

 protected:
  enum class Trial { accepted, rejected };

  /// Takes memory for n components.
  virtual void resize(Index n) = 0;
  /// Nothing of the past may be used by the next attempt.
  virtual void forget() = 0;
  /// One attempt from (t_, y_, f_) with step h. Accepted: y_new_, f_new_ and dense_ are set; either way h_ is the next
  /// step to try.
  virtual Trial attempt(OdeFunction f, double h) = 0;
  /// Order of the error estimate, for the first step.
  virtual int estimate_order() const = 0;

  /// False as f says, where a value is not finite, and once a stop is requested.
  bool evaluate(OdeFunction f, double t, const Vector& y, Vector& dydt);
  bool stopped() const { return raised(options_.stop); }
  bool wants_continuation() const { return continuation_.wanted && continuation_.wanted(); }
  /// w_i for the two ends of a step.
  double weight(Index i, double y_a, double y_b) const;
  /// sqrt(mean (e_i/w_i)²)
  double error_norm(const Vector& e, const Vector& y_a, const Vector& y_b) const;

  OdeOptions options_;
  double relative_, absolute_;  // tolerances of the step control; a method may take others than the options'
  double t_ = 0, t_old_ = 0, h_ = 0;
  Vector y_, y_old_, y_new_, f_, f_old_, f_new_;
  DenseMatrix dense_;  // (degree + 1) × n
  OdeCounters counters_;
  double estimate_at_kinks_ = 0;

 private:
  double first_step(OdeFunction f, double longest);
  Trial attempt_or_continue(OdeFunction f, double h);

  Continuation continuation_;
  bool started_ = false;
  long steps_ = 0;
  Vector probe_y_, probe_f_;
};

}  // namespace stickslip
