// SPDX-License-Identifier: Apache-2.0
// Derivatives of the event-driven motion by its start and by numbers of the case, forward, through every event.
//
//   y = (q, v),   X = ∂y/∂p at fixed t           one column per unknown; q in its numbers, tangent to their manifold
//
//   between events   y' = F(t, y; p) in the modes of the segment:   X' = F_y X + F_p
//                    exact flow: the derivative of its series (tangent_series.hpp); else collocation at the five points
//                    of Radau IIA (order 9, L-stable) along the flow's own motion, F_y and F_p by differences
//                    (mode_neighbourhood.hpp)
//   event            g(t, y; p) = 0 with rate ġ = g_t + g_y F⁻ < 0:
//                      dt/dp = -(g_y X⁻ + g_p)/ġ                          for a jump of a force at b(p): dt/dp = b'
//                      E     = X⁻ + F⁻ dt/dp                              derivative of the state at the event
//                      X⁺    = R_y E + R_t dt/dp + R_p - F⁺ dt/dp         R: impact, then onto what holds afterwards
//                    With R = 1 and F⁻ = F⁺ (break-away, lift-off) X goes through unchanged whatever dt/dp is.
//                    The impact's derivative is that of its impulses by u, D, μ and e, by differences of its solution
//   start            onto what holds in the first modes: a velocity given to a law that sticks is taken by friction
//
// Sources: Aizerman, Gantmacher 1958; Müller 1995 (saltation matrices). Departure: no saltation matrix is formed, its
// product with each column is.
//
// A derivative does not exist, and the column becomes not-a-number, with a note: where ġ is round-off beside the rate
// g had on the way (grazing), where two events at one instant move apart and their order matters, where an impact
// lies on a kink of its law, and where a jump of a force appears or vanishes with p. One-sided ones are noted: a law
// that begins to slip from rest at the start, a contact that touches then, if p moves its velocity or gap.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stickslip/motion/event/flow.hpp"
#include "stickslip/motion/event/mode_neighbourhood.hpp"
#include "stickslip/motion/event/tangent_series.hpp"
#include "stickslip/motion/state.hpp"
#include "stickslip/solvers/impact.hpp"

namespace stickslip {

class EventTangent {
 public:
  /// What is passed must outlive this object. `exact`: TaylorFlow takes all neighbouring systems.
  EventTangent(const System& system, const Variations& variations, const std::vector<double>& breakpoints,
               TimeSpan span, bool exact);

  /// X from S of a record and back (sensitivity.hpp).
  void load(const State& state, const DenseMatrix& S);
  void store(const State& state, DenseMatrix& S) const;

  void begin_segment() { fresh_ = true; }
  bool left() const { return left_; }
  /// From the state to time `to` of the flow's segment, in the state's modes. `exact`: the flow, if it is one.
  /// `window`: times between which forces are smooth, on the side of the segment.
  void carry(Flow& flow, const TaylorFlow* exact, const ModeDynamics& nominal, const State& state, double to,
             const TimeSpan& window);
  /// Onto what holds in the state's modes.
  void project(const ModeDynamics& nominal, const State& state, double t);

  /// At the end of a segment, before anything happens: which events, and how their times move. `triggers` may be
  /// empty. `breakpoint`: its number, -1: none. t: on the side of the segment.
  void leave(const ModeDynamics& nominal, const State& state, double t, const std::vector<Monitor>& triggers,
             int breakpoint);
  /// After it, with the new modes and accelerations: `touching`: contacts of an impact; t: on the side to come.
  void arrive(const ModeDynamics& nominal, const State& state, double t, const std::vector<std::size_t>& touching);
  /// Laws at the start whose first motion depends on the sign of a change: a note for each unknown that makes one.
  void note_one_sided(const ModeDynamics& nominal, const State& state, double t, const std::vector<char>& at_rest);

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void follow(const ModeDynamics& nominal, const std::vector<Mode>& modes);
  bool rate(ModeDynamics& dynamics, double t, const Vector& q, const Vector& v, Vector& out);
  bool held(ModeDynamics& dynamics, double t, const Vector& q, const Vector& v, Vector& out);
  bool slopes(double t, const Vector& q, const Vector& v, DenseMatrix& A, DenseMatrix& P);
  void turn_directions(double t, const Vector& q, const Vector& v, DenseMatrix& A, DenseMatrix& P, const DenseMatrix& U,
                       const DenseMatrix& Up);
  void collocate(Flow& flow, const ModeDynamics& nominal, double from, double to);
  double value_of(ModeDynamics& dynamics, const Monitor& monitor) const;
  void rates_of(const Monitor& monitor, const std::string& name);
  bool change_impact(Index j, double t, const std::vector<std::size_t>& touching, ModeNeighbourhood::Direction& E);
  bool impulse_slope(const Vector& numbers, const Vector& change, Vector& slope, bool& kink);
  bool pass(Index j, double t, const std::vector<std::size_t>& touching, const Vector& after, bool still);
  void lose(Index j, double t, const std::string& why);
  void begin_stretch(const State& state);

  const Variations& variations_;
  ModeNeighbourhood around_;
  std::unique_ptr<TangentSeries> series_;
  Index nq_, nv_;
  DenseMatrix X_;
  bool fresh_ = true;  // the segment has just begun
  double span_;

  // of the modes under way
  struct Turning {
    std::size_t law;
    double d[2], speed;
  };
  std::vector<Mode> modes_;
  std::vector<Turning> turning_;  // laws with two tangents that slip
  double segment_t_ = 0;
  bool new_stretch_ = true;  // from instant to instant
  double stretch_t_ = 0;
  Vector stretch_q_, stretch_v_;

  // of the instant under way
  struct Moving {
    Vector dt;  // per unknown
    bool hard;  // the acceleration jumps, or an impact follows
    bool grazes;
    std::string name;
  };
  bool left_ = false;
  std::vector<Moving> events_;
  Vector q_, v_, before_;  // state and F there
  double t_ = 0;
  ImpactProblem problem_, moved_;
  ImpactSolution impact_;
  ImpactWorkspace impact_workspace_;
  std::vector<Index> rows_;
  std::vector<std::size_t> touching_;

  DenseMatrix butcher_, system_, right_;
  FlowSample sample_;
  Vector qdot_, out_, numbers_;
  std::vector<std::string> notes_;
};

}  // namespace stickslip
