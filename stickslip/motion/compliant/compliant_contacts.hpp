// SPDX-License-Identifier: Apache-2.0
// The compliant contacts of a system: its points at a state, in groups that are solved together
// (solvers/compliant_contact.hpp), and which tangential deformation belongs to which point.
//
//   u_n = dΨ/dt = W_n v - w_n,   v_T = W_T v - w_T       rates of gap and tangential displacement   [m/s]
//   g += W λ                                             forces on the system                        [N, N m]
//
// Deformations δ_T stand in slots, one per contact point that is followed:
//   contacts given by functions   one slot per law, in order, for ever
//   bodies with shapes            points come and go. collect() takes a slot for every point within reach; during the
//                                 steps that follow points are matched to slots by their key, and, where the features
//                                 of two shapes changed, by the nearest one between the same two bodies. A point that
//                                 appears and no slot waits for makes place() false: the step was too long
// A slot whose point is out of sight is an open contact: its deformation relaxes. A slot that is given up with some
// deformation left gives its elastic energy to the dampers, where the relaxation would bring it.
//
// Dry friction with a limit of its own ([[friction]]) is the same tangential law under a known force: a slot with ρ = c
// (the limit at the state) in place of μ λ_n, and no normal. Its smooth part, c γ(u) - b u, is added as it is.
//
// A static coefficient or limit above the dynamic one holds a slot from when it sticks until it gives way; there its
// force drops. `held` is part of the state of a slot and changes between steps only: hold_or_release().
//
// Bodies that spin carry the deformation of their contacts with them: δ_T' has the term Ω (-δ_2, δ_1), Ω the rate at
// which the surfaces turn about the normal over the frame of the point (ContactSource::spin). It does no work where
// K_TT is isotropic and K_nT = 0; else what it does counts as work brought in.
//
// Contacts without `compliance` get one at the start, from the mass m = 1/(W_n M⁻¹ W_nᵀ) that they feel: K = m/ε on all
// axes, C = 2 m/√ε (critical), and a normal damping that makes a mass m rebound with the restitution e of the contact;
// ε [s²] is `CompliantOptions::epsilon`, or follows from the motion at the start (compliant_accuracy.cpp). Bodies: the
// smallest m of the points that a law has at the start; two bodies that feel more have 4, 16, 64, ... times as much
// between them (Slot::share), never more than what their own m says. Friction laws: likewise, with m along their
// direction; one with a spring k in series has K = k and relaxes in relaxation_of_spring() (elastic_friction.hpp), C =
// k times that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "stickslip/common/function_ref.hpp"
#include "stickslip/common/shifted_factor.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/elastic_friction.hpp"
#include "stickslip/motion/memory.hpp"
#include "stickslip/motion/rate_map.hpp"
#include "stickslip/motion/step.hpp"
#include "stickslip/solvers/compliant_contact.hpp"

namespace stickslip {

class CompliantContacts {
 public:
  /// The system must outlive this object. Throws InputError naming the contact whose compliance does not fit.
  explicit CompliantContacts(const System& system);

  struct Slot {
    int law = 0;        ///< of the contacts; -1: a friction law
    int friction = -1;  ///< of the friction laws
    bool held = false;  ///< the static coefficient or limit holds
    double share = 1;   ///< of the compliance that the law has by default: K, C and c_n are so many times as large
    std::uint64_t key = 0;
    int first_body = -1, second_body = -1;
    Index first = 0;  ///< of its tangents in δ_T
    int tangents = 0;
    std::array<double, 3> position{};
    std::array<double, 9> frame{};
  };

  /// Compliance of the laws that have none of their own. `weights`: 1/m per law (friction, contacts), of the start.
  void complete(const Vector& weights, double epsilon);
  bool complete_by_default() const { return defaults_; }
  bool all_by_default() const { return std::find(open_.begin(), open_.end(), 0) == open_.end(); }
  /// Some contact has a normal damping: forces jump where surfaces meet. Or a static coefficient: where it gives way.
  bool forces_jump() const;
  /// From `before` to what the points do now a force jumps, by more than `part` of the largest one.
  bool jumps_since(const std::vector<ContactPieces>& before, double part) const;
  /// A damped normal has closed, opened or begun to pull, with forces of more than `part` of the largest one: what its
  /// damper takes has a kink there that the motion need not have.
  bool dampers_change_since(const std::vector<ContactPieces>& before, double part) const;
  /// A contact with a normal law of its own has closed or opened: φ' may be as steep as it likes there (√p of Hertz),
  /// and estimates of the error of a step over it may be hundreds of times too small.
  bool own_laws_end_since(const std::vector<ContactPieces>& before) const;
  /// Slots that have closed since.
  std::vector<std::size_t> closed_since(const std::vector<ContactPieces>& before) const;
  bool sticks(std::size_t slot) const;
  /// `held` of other slots, one by one.
  void swap_holds(const std::vector<Slot>& from);
  /// Some law has a polygonal section.
  bool has_facets() const;
  /// Slots with a static coefficient: held from when they stick, released when they slip or open. True: some slot was
  /// released, its force at the placed state is another one now.
  bool hold_or_release();
  /// At the start of a run, or where it goes on with the modes that the laws had there: those that slipped or were open
  /// are not held.
  void hold_all(const std::vector<Mode>& modes);
  bool has_static() const { return has_static_; }
  /// What is 0 where a force jumps, at the placed state: the elastic normal force of an open point, as it would be if
  /// it could pull; for a held one how far the trial force lies outside its section. [N]
  double jump_function(std::size_t slot) const;
  /// How well the trial force is known: to `part` of the limit, or as deformations are to `way` and velocities to
  /// `speed`.
  struct BorderWidth {
    double part = 0, way = 0, speed = 0;
  };
  /// Its force lies on the border of its section within that: stick or slip is a matter of round-off.
  bool on_the_border(std::size_t slot, const BorderWidth& width) const;
  using RowWeight = FunctionRef<double(const SparseMatrix& Wt, Index row)>;  ///< 1/m = W M⁻¹ Wᵀ at q
  /// Slots for the points within `margin` [m] of (t, q), and those of `deformation` that are still strained: δ_T in its
  /// first column, derivatives of δ_T in the others. All columns move to their new places. Returns the elastic energy
  /// of slots that were given up [J].
  double collect(double t, const Vector& q, double margin, SystemWorkspace& workspace, RowWeight weight,
                 DenseMatrix& deformation);
  Index tangents() const { return tangents_; }  ///< size of δ_T
  Index friction_laws() const { return friction_.laws(); }
  Index law_count() const { return friction_.laws() + static_cast<Index>(laws_->size()); }
  Index component_count() const { return components_; }
  /// Of the component c of a slot (0: normal, then the tangents) among those of all laws.
  Index component_of(const Slot& slot, int c) const;
  /// 1/m that the compliance by default of a slot is made for; `weights`: per law.
  double weight_of(std::size_t slot, const Vector& weights) const;
  std::string name_of(const Slot& slot) const;  ///< "contact 'foot'"
  /// The law of a slot among friction laws and contacts.
  std::size_t mode_index(const Slot& slot) const;
  /// g -= Σ viscous W Wᵀ v of the friction laws.
  void subtract_viscous(const Vector& v, Vector& g) const;
  bool weakens() const { return friction_.has_weakening(); }
  bool has_smooth_part() const { return friction_.has_weakening() || friction_.has_viscous(); }
  const std::vector<Slot>& slots() const { return slots_; }
  bool points_stay() const { return points_stay_; }
  double margin() const { return margin_; }

  /// Points, gaps, velocities and forces at a state. False: a point without a slot, or forces that did not converge.
  /// Throws InputError as the system does, and where K or C is not positive definite at this state.
  bool place(double t, const Vector& q, const Vector& v, const Vector& deformation, SystemWorkspace& workspace);
  /// g += W λ
  void add_forces(Vector& g) const;
  void rates(Vector& rate) const;            ///< δ_T'
  double energy() const;                     ///< [J]
  double energy_of(std::size_t slot) const;  ///< of its group [J]
  double deepest() const;                    ///< largest penetration [m]
  /// Largest |u_n| √k: what meeting speeds can press into a contact, as √(v'ᵀ M v').
  double blow() const;
  /// Powers at the placed state [W]: of surfaces that move, taken by dampers, taken by friction.
  struct Powers {
    double surfaces = 0, dampers = 0, friction = 0;
  };
  Powers powers() const;
  /// How well the laws hold at the placed state, from forces and slip alone: λ outside its set over the largest force,
  /// and |l - P(l - c σ)| of the tangential law over the force or c |σ|, c the mean of C's own diagonal.
  struct Residuals {
    double membership = 0, inclusion = 0;
  };
  Residuals residuals() const;
  /// Per law: λ summed over its points (components), smooth part of friction, and power on the system.
  void law_sums(Vector& components, Vector& smooth, Vector& power) const;
  Mode mode(std::size_t law) const;
  /// Of the point that the mode is of.
  ActiveFacets facets(std::size_t law) const;
  /// What slots that slipped on `before` do at the placed state, by the rates of δ_T and not by the trial force
  /// (piece_by_rate): for states that are known less exactly than their rates.
  void decide_by_rates(const std::vector<ContactPieces>& before, const Eigen::Ref<const Vector>& rates);
  /// δ_T' and slip of slots that slip at the placed state, from rates of δ_T that are known better.
  void take_slip(const Eigen::Ref<const Vector>& rates);
  /// What every point does, to see switches; in the order of the slots.
  const std::vector<ContactPieces>& pieces() const { return pieces_; }
  void point_forces(std::vector<PointForce>& forces) const;

  /// ½ δᵀ K' δ for a rate K' of the stiffnesses, per group [W]
  double stiffening_power(const std::vector<DenseMatrix>& K_rate) const;

  /// dλ and d(δ_T') for changes of the state: dΨ, du_n per slot, dδ_T, dv_T per tangent (solvers: vary()).
  struct Change {
    Vector gap, normal_velocity, deformation, velocity;  ///< in
    Vector mu, normal_damping, own_force;                ///< in, per slot; empty: constant
    Vector spin;                                         ///< in, per slot; empty: constant
    Vector section;                                      ///< in, per tangent; empty: constant (CompliantVariation)
    std::vector<DenseMatrix> K, C;                       ///< in, per group; empty: constant
    Vector normal, tangential, rate;                     ///< out, per slot and per tangent
  };
  void vary(Change& change);
  /// The transpose of vary(): from weights on its results (normal, tangential, rate) to weights on its data.
  void pull_back(Change& weights);
  /// Ψ, u_n (slots), v_T (tangents), Ω, μ, c_n, φ (limits of friction laws), K and C at another state for the same
  /// slots, and W λ there with the λ given and the smooth part of friction. The placed state stays as it is. `data`: μ,
  /// c_n, K and C as well, and φ at the gaps of this one's placed state.
  void neighbour(double t, const Vector& q, const Vector& v, const Vector& normal, const Vector& tangential,
                 const CompliantContacts* data, SystemWorkspace& workspace, Change& values, Vector& force);
  /// The slots of another one, for neighbour(), or of another time.
  void follow(const CompliantContacts& other);
  void follow(const std::vector<Slot>& slots);
  Index slot_count() const { return static_cast<Index>(slots_.size()); }
  std::size_t group_count() const { return groups_.size(); }
  /// λ as it is, and g += W λ' for any other λ' (normals per slot, tangents).
  void forces(Vector& normal, Vector& tangential) const;
  void add_forces(const Vector& normal, const Vector& tangential, Vector& g) const;
  /// Rows of a slot over the velocities: normal, then the tangents; empty where its point is not in sight.
  template <class F>
  void for_each_row(F&& f) const;  ///< f(slot, component, SparseMatrix, row)
  bool constant_stiffness() const { return constant_stiffness_; }
  /// Nor do limits depend on the state.
  bool constant_data() const { return constant_stiffness_ && !friction_.limits_depend_on_state(); }
  bool turns() const { return !points_stay_; }
  /// Slopes of M v' and δ_T' by (q, v, δ_T) at fixed rows, as entries of a matrix over (q, v, δ_T), with q' = T v.
  void add_slopes(const RateMap& T, Index nq, Index nv, MatrixEntries& slope);
  /// Largest of the rates √(K/m), C/m, K/C of the contacts, 1/m being `weights` per law [1/s].
  double fastest(const Vector& weights) const;

  /// Forces, lengths and times of the contacts at the placed state, for error weights.
  double force_size() const;
  double gap(std::size_t slot) const;       ///< [m]; margin() where its point is out of sight
  double gap_rate(std::size_t slot) const;  ///< [m/s]; 0 there
  double stiffness_of(std::size_t slot) const;
  bool has_own_law(std::size_t slot) const;  ///< φ in place of K_nn
  /// In which the normal law of its own of a slot would stop what comes in with the speed of the placed state: φ(u t)
  /// t/m = u, 1/m = `weight`; infinite without such a law. [s]
  double time_to_stop(std::size_t slot, double weight) const;
  double relaxation_of(std::size_t slot) const;  ///< smallest C/K of its tangents [s]; infinite without any
  /// Smallest C/√(K m) of its tangents, 1/m = `weight`; infinite without any.
  double damping_ratio(std::size_t slot, double weight) const;
  /// Size of the numbers whose sum the gap is, at the placed state q [m]
  double gap_terms(std::size_t slot, const Vector& q) const;

  void exchange(Memory& memory);

  /// Every contact keeps the piece given, wherever the state is, until let_go(): the smooth continuation of the motion,
  /// which place() gives from then on. Not for coupled contacts.
  void keep_pieces(const std::vector<ContactPieces>& pieces);
  void let_go();
  /// From the next placed state until let_go(), of slots that are not 0 here: φ/p in place of φ', the mean slope of a
  /// normal law of its own between its border and p.
  void take_mean_slopes(const std::vector<char>& slots) { mean_slopes_ = slots; }
  bool can_keep_pieces() const { return !coupled_; }
  /// What is 0 where slot s goes from one piece to the other, at the placed state; not a number where nobody knows. [N]
  double border_function(std::size_t slot, const ContactPieces& from, const ContactPieces& to) const;

 private:
  struct Group {
    std::vector<int> slots;
    CompliantProblem problem;
    CompliantWorkspace workspace;
    CompliantSolution solution;
  };
  void make_groups();
  double outside(std::size_t slot) const;
  /// The slot is coupled to no other and slips on that piece.
  bool slips_alone(std::size_t slot, const ContactPieces& piece) const;
  /// δ_T' by the law of the slot, from rates of the state: without the turning of its frame.
  PlaneForce own_rate(std::size_t slot, const Eigen::Ref<const Vector>& rates) const;
  Group& new_group();
  void add_to_group(std::size_t slot, Group& group) const;
  Slot friction_slot(int law, Index first) const;
  double share_of(const Slot& slot, double weight) const;
  double normal_damping_of(const Slot& slot) const;
  /// Rows of a slot: Wᵀ, w and u, the normal at `first`. No Wᵀ: its point is not in sight.
  struct Rows {
    const SparseMatrix* Wt = nullptr;
    const Vector *w = nullptr, *u = nullptr;
    Index first = 0;
    int begin = 0;  ///< first component that there is: 1 without a normal
  };
  Rows rows_of(std::size_t slot) const;
  double coefficient(const Slot& slot) const;
  double limit_of(const Slot& slot, const FrictionAssembly& friction) const;
  void place_friction(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace);
  void neighbour_friction(double t, const Vector& q, const Vector& v, const Vector& tangential,
                          SystemWorkspace& workspace, Change& values, Vector& force);
  void smooth_force(const FrictionAssembly& friction, const Vector& u, Vector& force) const;
  const Slot* deciding(std::size_t law) const;
  void evaluate_matrices(Group& group, SystemWorkspace& workspace);
  /// The facet or vertex of this one's section that lies where that of the other one's force does.
  void neighbour_sections(const CompliantContacts& other, Vector& section) const;
  bool match(const ContactPoints& found, std::vector<int>& slot_of_point, std::vector<int>& point_of_slot,
             std::vector<Index>& row_of_point) const;
  /// φ, φ' and ∫φ at a gap; `kept`: beyond the border the contact stays closed, on the odd continuation of φ.
  void normal_law(const Slot& slot, double gap, bool kept, CompliantPoint& point) const;
  bool kept_closed(std::size_t slot) const;
  void read_matrices(const Slot& slot, std::span<const double> variables, DenseMatrix& K, DenseMatrix& C) const;
  void gather(const Vector& v, const Vector& deformation);
  const ContactElement& law_of(const Slot& slot) const { return (*laws_)[static_cast<std::size_t>(slot.law)]; }

  const System& system_;
  const std::vector<ContactElement>* laws_;
  FrictionAssembly friction_, near_friction_;
  std::vector<FrictionSection> friction_sections_;
  std::vector<std::pair<double, double>> friction_compliance_;  // K, C per friction law
  Vector friction_u_, friction_w_, smooth_, near_w_, near_u_, near_smooth_, spin_;
  std::vector<double> held_coefficient_;  // per contact law: static; < 0: there is none
  bool has_static_ = false;
  Index components_ = 0;
  std::vector<ContactCompliance> compliance_;  // per law, as given or by default
  std::vector<FrictionSection> sections_;      // per law
  std::vector<char> open_;                     // laws that complete() fills
  std::vector<double> open_weight_;            // 1/m that it filled them for
  std::vector<Index> component_;               // per law, first component among those of the contacts
  bool points_stay_ = true, coupled_ = false, constant_stiffness_ = true, defaults_ = false;
  double margin_ = 0;
  Index tangents_ = 0;
  std::vector<Slot> slots_;
  std::vector<int> point_of_slot_, slot_of_point_, near_slot_, near_point_;
  std::vector<Index> row_of_point_, near_row_;
  ContactPoints found_;
  Vector u_;
  std::vector<std::unique_ptr<Group>> groups_;
  /// Where a slot is solved.
  struct Place {
    Group* group = nullptr;
    std::size_t index = 0;  // of its point in the group
  };
  std::vector<Place> places_;  // per slot
  std::size_t used_groups_ = 0;
  std::vector<ContactPieces> pieces_;
  std::vector<char> mean_slopes_;
  CompliantVariation variation_;
  CompliantCotangent cotangent_;
  ContactPoints near_;  // points of neighbour()
};

template <class F>
void CompliantContacts::for_each_row(F&& f) const {
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const Rows rows = rows_of(s);
    if (!rows.Wt) continue;
    for (int c = rows.begin; c <= slots_[s].tangents; ++c) f(s, c, *rows.Wt, rows.first + c);
  }
}

}  // namespace stickslip
