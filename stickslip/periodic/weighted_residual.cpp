// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/weighted_residual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/periodic/fourier_basis.hpp"
#include "stickslip/periodic/periodic_scales.hpp"
#include "stickslip/periodic/spline_basis.hpp"
#include "stickslip/periodic/weighted_residual_parts.hpp"

namespace stickslip {

namespace {
constexpr double kPi = std::numbers::pi;

bool same_basis(const PeriodicOptions& a, const PeriodicOptions& b) {
  if (a.method != b.method) return false;
  if (a.method != PeriodicMethod::spline) return a.harmonics == b.harmonics && a.chosen_samples() == b.chosen_samples();
  return a.steps == b.steps && a.spline_displacement == b.spline_displacement && a.spline_reaction == b.spline_reaction;
}

std::shared_ptr<const PeriodicBasis> make_basis(const PeriodicOptions& options) {
  // Displacements of even degree on an even number of intervals do not see reactions that alternate from knot to knot,
  // which nothing determines then while a law sticks throughout.
  const bool blind = options.spline_displacement % 2 == 0 && options.steps % 2 == 0;
  if (options.method == PeriodicMethod::spline)
    return std::make_shared<const SplineBasis>(options.steps + (blind ? 1 : 0), options.spline_displacement,
                                               options.spline_reaction);
  return std::make_shared<const FourierBasis>(options.harmonics, options.chosen_samples());
}
}  // namespace

std::string weighted_residual_refusal(const System& system) {
  const LawSet& laws = system.laws();
  if (!system.kinematics().flat()) return "positions are not numbers that add (rotations of bodies)";
  if (!laws.constraints().empty()) return "there are bilateral constraints";
  if (!laws.contact_source().points_stay()) return "contact points appear and vanish with the geometry";
  const Index index_slot = 1 + system.info().nq() + system.info().nv();
  for (const FrictionElement& law : laws.friction()) {
    if (law.limit.depends_on_reactions(index_slot)) return fmt::format("the limit of '{}' follows reactions", law.name);
    if (law.static_limit)
      return fmt::format("'{}' has a static limit, which is no convex law: it holds the memory of a phase", law.name);
  }
  for (const ContactElement& law : laws.contacts())
    if (law.mu_static && *law.mu_static > law.mu)
      return fmt::format("'{}' has mu_static, which is no convex law", law.name);
  return "";
}

WeightedResidual::~WeightedResidual() = default;

WeightedResidual::WeightedResidual(const System& system, const PeriodicOptions& options, double t0,
                                   const Vector& q_reference, const WeightedResidual* like)
    : system_(system),
      options_(options),
      basis_(like && same_basis(like->options_, options) ? like->basis_ : make_basis(options)),
      t0_(t0),
      workspace_(system),
      q_reference_(q_reference) {
  if (const std::string reason = weighted_residual_refusal(system); !reason.empty())
    throw InputError(
        fmt::format("method = \"{}\" does not apply: {}; use method = \"event\"", to_string(options.method), reason));
  fourier_ = options.method != PeriodicMethod::spline;
  linear_ = system.linear() != nullptr;
  state_forces_ = !linear_ || system.forces().applied_depends_on_state();
  constant_contacts_ = system.laws().contact_source().constant_rows();
  omega_ = omega_guess_ = 2 * kPi / options.motion_period();
  N_ = basis_->samples();
  nx_ = basis_->size(BasisField::displacement);
  nr_ = basis_->size(BasisField::reaction);
  const Index n = system.info().nv();
  for (Vector* x : {&q_, &v_, &a_, &h_, &product_}) x->setZero(n);
  if (linear_ && state_forces_) read_functions();
  choose_coordinates();
  make_laws();
  if (linear_ && fourier_)
    elimination_ = std::make_unique<HarmonicElimination>(*system.linear(), kept_, options.cyclic);
  make_scales(q_reference);
  register_signals();
  const Index conditions = options.autonomous ? 1 + (options.condition ? 1 : 0) : 0;
  unknowns_ = nb_ * nx_ + m_ * nr_ + (options.autonomous ? 1 : 0);
  equations_ = nb_ * nx_ + m_ * nr_ + conditions;
  constant_products_.assign(4, std::vector<DenseMatrix>(3));
  Q_.resize(nb_, N_), V_.setZero(nb_, N_), A_.resize(nb_, N_), R_.resize(m_, N_), U_.resize(m_, N_);
}

void WeightedResidual::read_functions() {
  system_.forces().append_time_functions(functions_);
  if (static_cast<Index>(functions_.size()) != system_.info().nv()) functions_.clear();
}

/// All of them, or in a linear system with a Fourier basis those that laws and forces of the state touch.
void WeightedResidual::choose_coordinates() {
  const Index n = system_.info().nv();
  std::set<Index> kept;
  const bool all = !linear_ || !fourier_ || options_.autonomous || !constant_contacts_;
  for (Index i = 0; all && i < n; ++i) kept.insert(i);
  if (!all) {
    for (const FrictionElement& law : system_.laws().friction()) {
      for (const Direction& direction : law.directions)
        for (const auto& [i, value] : direction) kept.insert(i);
      const auto add = [&](const StateFunction& f) {
        for (const Index slot : f.variables_used())
          if (slot > 0 && slot <= 2 * n) kept.insert((slot - 1) % n);
      };
      add(law.limit);
      for (const StateFunction& w : law.surface_velocity) add(w);
    }
    system_.laws().contact_source().find(t0_, q_, HUGE_VAL, workspace_, found_);
    for (Index row = 0; row < found_.Wt.rows(); ++row)
      for (SparseMatrix::InnerIterator entry(found_.Wt, row); entry; ++entry) kept.insert(entry.col());
    // One function per coordinate says itself what it depends on; slopes are stored for more than that.
    for (std::size_t i = 0; i < functions_.size(); ++i)
      for (const Index slot : functions_[i]->variables_used())
        if (slot > 0 && slot <= 2 * n) kept.insert(static_cast<Index>(i)), kept.insert((slot - 1) % n);
    if (state_forces_ && functions_.empty()) {
      system_.forces().applied_slopes(t0_, q_, v_, workspace_, by_q_, by_v_);
      const auto add = [&](Index i, Index k, double) { kept.insert(i), kept.insert(k); };
      by_q_.for_each(add);
      by_v_.for_each(add);
    }
    if (kept.empty()) kept.insert(0);
  }
  if (options_.cyclic.any()) require_sector(kept, all);
  kept_.assign(kept.begin(), kept.end());
  nb_ = static_cast<Index>(kept_.size());
  place_.assign(static_cast<std::size_t>(n), -1);
  for (Index c = 0; c < nb_; ++c) place_[kept_[c]] = c;
}

void WeightedResidual::require_sector(const std::set<Index>& kept, bool all) const {
  options_.cyclic.validate(system_.info().nv());
  if (all)
    throw InputError(
        "periodic.cyclic takes [matrices] with method = \"fourier\", a forced motion and contacts of constant rows: "
        "the cut "
        "coordinates are eliminated harmonic by harmonic");
  for (const auto& [left, right] : options_.cyclic.pairs)
    if (kept.count(right))
      throw InputError(
          fmt::format("periodic.cyclic: a law or a force of the state acts on coordinate {} of the right cut, which "
                      "belongs to the next "
                      "sector; let it act on its partner on the left cut",
                      system_.info().coordinates[static_cast<std::size_t>(right)]));
}

void WeightedResidual::make_laws() {
  const Index n = system_.info().nv();
  for (const FrictionElement& element : system_.laws().friction()) {
    Law law;
    law.friction = &element;
    law.first = m_;
    law.size = element.size();
    std::set<Index> columns;
    for (const Direction& direction : element.directions)
      for (const auto& [i, value] : direction) columns.insert(place_[i]);
    law.columns.assign(columns.begin(), columns.end());
    law.W.setZero(law.size, static_cast<Index>(law.columns.size()));
    for (int a = 0; a < law.size; ++a)
      for (const auto& [i, value] : element.directions[static_cast<std::size_t>(a)])
        law.W(a, std::lower_bound(law.columns.begin(), law.columns.end(), place_[i]) - law.columns.begin()) += value;
    law.smooth = element.viscous > 0 || element.weakening.shape != WeakeningShape::none;
    std::set<Index> slots;
    for (const Index slot : element.limit.variables_used()) slots.insert(slot);
    for (const StateFunction& w : element.surface_velocity)
      for (const Index slot : w.variables_used()) slots.insert(slot);
    for (const Index slot : slots)
      if (slot > 0 && slot <= 2 * n) law.depends.push_back({place_[(slot - 1) % n], slot, slot > n ? 1 : 0});
    m_ += law.size;
    if (law.elastic()) prepare_march(law);
    laws_.push_back(std::move(law));
  }
  for (const ContactElement& element : system_.laws().contacts()) {
    Law law;
    law.contact = &element;
    law.first = m_;
    law.size = element.size();
    for (Index c = 0; c < nb_; ++c) law.columns.push_back(c);
    law.W.setZero(law.size, nb_);
    m_ += law.size;
    laws_.push_back(std::move(law));
  }
  for (Law& law : laws_) {
    law.u.setZero(law.size);
    law.du.setZero(law.size, constant_contacts_ ? 0 : nb_);
  }
  w_.setZero(m_);
}

void WeightedResidual::prepare_march(Law& law) const {
  for (const Law::Dependence& d : law.depends)
    if (options_.autonomous && d.p == 1)
      throw InputError(
          fmt::format("friction '{}' has a spring in series and a limit of velocities, which a motion of its own "
                      "period does not take; let the limit depend on coordinates alone",
                      law.friction->name));
  for (const StateFunction& w : law.friction->surface_velocity)
    if (!w.is_constant() && (options_.autonomous || w.depends_on_state(1 + 2 * system_.info().nv())))
      throw InputError(
          fmt::format("friction '{}' has a spring in series and a surface velocity that depends on the state, or "
                      "varies in a motion of its own period; this is not taken",
                      law.friction->name));
  std::set<Index> touched(law.columns.begin(), law.columns.end());
  for (const Law::Dependence& d : law.depends) touched.insert(d.coordinate);
  law.touched.assign(touched.begin(), touched.end());
  const auto place = [&](Index c) { return std::distance(touched.begin(), touched.find(c)); };
  for (const Index c : law.columns) law.place.push_back(place(c));
  for (const Law::Dependence& d : law.depends) law.place.push_back(place(d.coordinate));
  law.marched.setZero(law.size, N_);
  law.slip.setZero(law.size, N_);
  law.slopes.assign(static_cast<std::size_t>(law.size),
                    DenseMatrix::Zero(N_, static_cast<Index>(law.touched.size()) * nx_));
}

void WeightedResidual::make_scales(const Vector& q_reference) {
  const Index n = system_.info().nv();
  const PeriodicScales scales = periodic_scales(system_, options_, t0_, q_reference);
  x_scale_.resize(nb_), f_scale_.resize(nb_);
  for (Index c = 0; c < nb_; ++c) {
    x_scale_[c] = scales.x[kept_[c]];
    f_scale_[c] = scales.f[kept_[c]];
  }
  r_scale_ = scales.r;
  for (std::size_t l = 0; l < laws_.size(); ++l) {
    laws_[l].rho = scales.rho[l];
    laws_[l].rho_n = scales.rho_n[l];
  }
  forces_.setZero(linear_ ? n : 0, linear_ ? N_ : 0);
  if (linear_) sample_loads();
  // Motions of their own know no excitation; what it is in the mean stays.
  if (options_.autonomous && linear_ && !state_forces_) forces_.colwise() = Vector(forces_.rowwise().mean());
}

/// Forces of time at the samples; those of kept coordinates are sampled with the state where they depend on it.
void WeightedResidual::sample_loads() {
  const Index n = system_.info().nv();
  const Vector still = Vector::Zero(n);
  workspace_.variables.set(t0_, still, still);
  for (Index j = 0; j < N_; ++j) {
    if (functions_.empty()) {
      system_.forces().applied(time(j), still, still, workspace_, h_);
      forces_.col(j) = h_;
      continue;
    }
    workspace_.variables.set_time(time(j));
    for (Index i = 0; i < n; ++i) {
      if (place_[static_cast<std::size_t>(i)] >= 0) continue;
      workspace_.variables.set_index(i);
      forces_(i, j) = (*functions_[static_cast<std::size_t>(i)])(workspace_.variables.span());
    }
  }
}

void WeightedResidual::register_signals() {
  for (auto& slots : force_slots_) slots.assign(state_forces_ ? static_cast<std::size_t>(nb_ * nb_) : 0, -1);
  const auto add = [&](Index i, Index k, int p) {
    force_slots_[static_cast<std::size_t>(p)][static_cast<std::size_t>(i * nb_ + k)] = signals_.slot(i, k, p);
  };
  for (Index i = 0; !linear_ && i < nb_; ++i)
    for (Index k = 0; k < nb_; ++k)
      for (int p = 0; p < 3; ++p) add(i, k, p);
  const Index n = system_.info().nv();
  for (Index c = 0; c < nb_ && !functions_.empty(); ++c) {
    const StateFunction* f = functions_[static_cast<std::size_t>(kept_[c])];
    for (const Index slot : f->variables_used())
      if (slot > 0 && slot <= 2 * n)
        force_slopes_.push_back({f, slot, signals_.slot(c, place_[(slot - 1) % n], slot > n ? 1 : 0)});
  }
  velocities_ = functions_.empty() || !laws_.empty() || options_.autonomous;
  for (const ForceSlope& slope : force_slopes_) velocities_ |= slope.variable > n;
  if (linear_ && state_forces_ && functions_.empty()) {
    system_.forces().applied_slopes(t0_, q_reference_, Vector::Zero(q_.size()), workspace_, by_q_, by_v_);
    const auto both_kept = [&](Index i, Index k) { return place_[i] >= 0 && place_[k] >= 0; };
    by_q_.for_each([&](Index i, Index k, double) {
      if (both_kept(i, k)) add(place_[i], place_[k], 0);
    });
    by_v_.for_each([&](Index i, Index k, double) {
      if (both_kept(i, k)) add(place_[i], place_[k], 1);
    });
  }
  for (Law& law : laws_) {
    for (int a = 0; a < law.size; ++a) {
      for (int b = 0; b < law.size; ++b) law.by_r.push_back(signals_.slot(nb_ + law.first + a, nb_ + law.first + b, 0));
      for (const Index c : law.columns) {
        law.by_v.push_back(signals_.slot(nb_ + law.first + a, c, 1));
        if (law.contact) law.by_q.push_back(signals_.slot(nb_ + law.first + a, c, 0));
        law.force_r.push_back(signals_.slot(c, nb_ + law.first + a, 0));
      }
      for (const Law::Dependence& d : law.depends)
        law.by_dependence.push_back(signals_.slot(nb_ + law.first + a, d.coordinate, d.p));
      for (Index k = 0; k < law.du.cols(); ++k) law.by_du.push_back(signals_.slot(nb_ + law.first + a, k, 0));
    }
    if (law.contact && !constant_contacts_)
      for (const Index c : law.columns)
        for (Index k = 0; k < nb_; ++k) law.force_du.push_back(signals_.slot(c, k, 0));
    if (!law.smooth) continue;
    for (const Index c : law.columns)
      for (const Index k : law.columns) law.force_v.push_back(signals_.slot(c, k, 1));
    for (const Index c : law.columns)
      for (const Law::Dependence& d : law.depends) law.force_dependence.push_back(signals_.slot(c, d.coordinate, d.p));
  }
}

double WeightedResidual::period(const Vector& X) const {
  return options_.autonomous ? 2 * kPi / (X[unknowns_ - 1] * omega_guess_) : 2 * kPi / omega_;
}

Vector WeightedResidual::start_from(const Orbit& orbit) const {
  Vector X = Vector::Zero(unknowns_), samples(N_), coefficients;
  const auto row_at = [&](Index j) {  // linear between the rows
    const double t = orbit.t0 + basis_->angle(j) / (2 * kPi) * orbit.period;
    const auto after = std::upper_bound(orbit.t.begin(), orbit.t.end(), t);
    const std::size_t k =
        std::clamp<std::size_t>(static_cast<std::size_t>(after - orbit.t.begin()), 1, orbit.t.size() - 1);
    const double length = orbit.t[k] - orbit.t[k - 1];
    return std::pair{k, length > 0 ? std::clamp((t - orbit.t[k - 1]) / length, 0.0, 1.0) : 1.0};
  };
  const auto fill = [&](BasisField field, Index block, double scale, const std::vector<Vector>& rows, Index i) {
    for (Index j = 0; j < N_; ++j) {
      const auto [k, w] = row_at(j);
      samples[j] = ((1 - w) * rows[k - 1][i] + w * rows[k][i]) / scale;
    }
    basis_->fit(field, samples, X.segment(block, basis_->size(field)));
  };
  for (Index c = 0; c < nb_; ++c) fill(BasisField::displacement, x_block(c), x_scale_[c], orbit.q, kept_[c]);
  for (Index a = 0; a < m_ && !orbit.r.empty(); ++a) fill(BasisField::reaction, r_block(a), r_scale_[a], orbit.r, a);
  if (options_.autonomous) X[unknowns_ - 1] = 2 * kPi / orbit.period / omega_guess_;
  return X;
}

}  // namespace stickslip
