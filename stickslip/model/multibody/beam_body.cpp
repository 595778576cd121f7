// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/beam_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/model/multibody/modal_basis.hpp"

namespace stickslip {

void BeamOptions::validate() const {
  const auto positive = [](const char* name, double value) {
    if (!(value > 0) || !std::isfinite(value))
      throw InputError(fmt::format("{} = {} must be finite and > 0", name, value));
  };
  positive("length", length);
  positive("youngs_modulus", youngs_modulus);
  positive("density", density);
  for (const BeamSection* section : {&first, &last}) {
    positive("area", section->area);
    if (bends_z || twists) positive("Iy", section->Iy);
    if (bends_y || twists) positive("Iz", section->Iz);
  }
  if (shear_factor < 0) throw InputError(fmt::format("shear_factor = {} must be >= 0", shear_factor));
  if (twists || shear_factor > 0) positive("shear_modulus", shear_modulus);
  if (!(bends_y || bends_z || stretches || twists)) throw InputError("a flexible beam bends, stretches or twists");
  if (elements < 1) throw InputError(fmt::format("elements = {} must be >= 1", elements));
  if (modes < 1 && kept.empty()) throw InputError(fmt::format("modes = {} must be >= 1", modes));
  if (!(damping >= 0 && damping < 1)) throw InputError(fmt::format("damping = {} must be >= 0 and below 1", damping));
  for (const auto& [name, s] : nodes)
    if (!(s >= 0 && s <= length))
      throw InputError(fmt::format("node '{}' at {} is not on the beam, which goes from 0 to {}", name, s, length));
}

namespace {

using Row = Eigen::Matrix<double, 1, 12>;
constexpr int kPerNode = 6;  // u, v, w, θx, θy, θz

/// Points and weights of Gauss on [0, 1].
constexpr std::array<double, 4> kPoints{0.06943184420297371, 0.33000947820757187, 0.66999052179242813,
                                        0.93056815579702629};
constexpr std::array<double, 4> kWeights{0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                         0.17392742256872693};

/// Fields at one place of an element, as rows over its twelve coordinates.
struct Fields {
  Row u = Row::Zero(), v = u, w = u, tx = u, ty = u, tz = u;  ///< values
  Row du = u, dv = u, dw = u, dtx = u, dty = u, dtz = u;      ///< derivatives by s
};

/// Deflection and rotation of the cubics with shear Φ at ξ, and their derivatives by s.
struct Bending {
  std::array<double, 4> v, t, dv, dt;
};

Bending bending(double xi, double l, double phi) {
  const double mu = 1 / (1 + phi), x2 = xi * xi, x3 = x2 * xi;
  Bending b;
  b.v = {mu * (1 - 3 * x2 + 2 * x3 + phi * (1 - xi)), mu * l * (xi - 2 * x2 + x3 + phi * (xi - x2) / 2),
         mu * (3 * x2 - 2 * x3 + phi * xi), mu * l * (x3 - x2 - phi * (xi - x2) / 2)};
  b.dv = {mu / l * (-6 * xi + 6 * x2 - phi), mu * (1 - 4 * xi + 3 * x2 + phi * (1 - 2 * xi) / 2),
          mu / l * (6 * xi - 6 * x2 + phi), mu * (3 * x2 - 2 * xi - phi * (1 - 2 * xi) / 2)};
  b.t = {6 * mu / l * (x2 - xi), mu * (1 - 4 * xi + 3 * x2 + phi * (1 - xi)), 6 * mu / l * (xi - x2),
         mu * (3 * x2 - 2 * xi + phi * xi)};
  b.dt = {6 * mu / (l * l) * (2 * xi - 1), mu / l * (-4 + 6 * xi - phi), 6 * mu / (l * l) * (1 - 2 * xi),
          mu / l * (6 * xi - 2 + phi)};
  return b;
}

class BeamBuilder {
 public:
  explicit BeamBuilder(const BeamOptions& options) : o_(options) {
    // Nodes of the elements: equal ones, and those that have a name.
    for (int k = 0; k <= o_.elements; ++k) s_.push_back(o_.length * k / o_.elements);
    named_ = {{"root", 0.0}, {"tip", o_.length}};
    for (const auto& node : o_.nodes)
      if (node.first != "root" && node.first != "tip") named_.push_back(node);
    constexpr double kSame = 1e-9;  // of the length: no element is that short
    for (const auto& [name, s] : named_)
      if (std::none_of(s_.begin(), s_.end(), [&, at = s](double x) { return std::abs(x - at) < kSame * o_.length; }))
        s_.push_back(s);
    std::sort(s_.begin(), s_.end());
    number_coordinates();
  }

  FlexibleBody build() {
    assemble();
    std::vector<Index> kept;
    for (const std::string& name : o_.kept) {
      const std::size_t node = node_at(place_of(name));
      for (int c = 0; c < kPerNode; ++c)
        if (const Index k = index_[kPerNode * node + static_cast<std::size_t>(c)]; k >= 0) kept.push_back(k);
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    const ModalBasis basis = modal_basis(M_, K_, kept, o_.modes, rigid_motions(), o_.damping);
    T_ = basis.T;
    FlexibleBody body;
    body.stiffness = basis.K;
    body.damping = basis.D;
    body.frequency = basis.frequency;
    add_stations(body);
    return body;
  }

 private:
  std::size_t elements() const { return s_.size() - 1; }
  double place_of(const std::string& name) const {
    const auto found = std::find_if(named_.begin(), named_.end(), [&](const auto& it) { return it.first == name; });
    if (found == named_.end()) throw InputError(fmt::format("there is no node '{}' on the beam", name));
    return found->second;
  }
  std::size_t node_at(double s) const {
    return static_cast<std::size_t>(
        std::min_element(s_.begin(), s_.end(), [&](double a, double b) { return std::abs(a - s) < std::abs(b - s); }) -
        s_.begin());
  }

  BeamSection section(double s) const {
    const double b = s / o_.length, a = 1 - b;
    const auto torsion = [](const BeamSection& it) { return it.torsion > 0 ? it.torsion : it.Iy + it.Iz; };
    return {a * o_.first.area + b * o_.last.area, a * o_.first.Iy + b * o_.last.Iy, a * o_.first.Iz + b * o_.last.Iz,
            a * torsion(o_.first) + b * torsion(o_.last)};
  }

  /// Which coordinates of the nodes there are.
  void number_coordinates() {
    index_.assign(kPerNode * s_.size(), -1);
    const std::array<bool, kPerNode> there{o_.stretches, o_.bends_y, o_.bends_z, o_.twists, o_.bends_z, o_.bends_y};
    for (std::size_t node = 0; node < s_.size(); ++node)
      for (std::size_t c = 0; c < kPerNode; ++c) {
        const bool first = node == 0, last = node + 1 == s_.size();
        const BeamEnd end = first ? o_.first_end : o_.last_end;
        bool held = false;
        if ((first || last) && end != BeamEnd::free) held = end == BeamEnd::clamped || c < 4;
        if (last && c == 0) held = false;
        if (there[c] && !held) index_[kPerNode * node + c] = count_++;
      }
  }

  /// Motions of the frame that the ends leave to the beam, in the coordinates that there are.
  Index rigid_motions() const {
    const auto held = [&](BeamEnd end) { return end == BeamEnd::clamped ? 2 : end == BeamEnd::pinned ? 1 : 0; };
    const int lateral = std::max(0, 2 - held(o_.first_end) - held(o_.last_end));
    Index count = lateral * (static_cast<int>(o_.bends_y) + static_cast<int>(o_.bends_z));
    if (o_.twists && o_.first_end == BeamEnd::free && o_.last_end == BeamEnd::free) ++count;
    if (o_.stretches && o_.first_end == BeamEnd::free) ++count;
    return count;
  }

  Fields fields(std::size_t element, double xi) const {
    const double l = s_[element + 1] - s_[element];
    const BeamSection mid = section(0.5 * (s_[element] + s_[element + 1]));
    const auto shear = [&](double I) {
      return o_.shear_factor > 0 ? 12 * o_.youngs_modulus * I / (o_.shear_factor * o_.shear_modulus * mid.area * l * l)
                                 : 0.0;
    };
    Fields f;
    for (int end = 0; end < 2; ++end) {
      f.u[6 * end] = f.tx[6 * end + 3] = end ? xi : 1 - xi;
      f.du[6 * end] = f.dtx[6 * end + 3] = (end ? 1 : -1) / l;
    }
    const Bending y = bending(xi, l, shear(mid.Iz)), z = bending(xi, l, shear(mid.Iy));
    for (int k = 0; k < 4; ++k) {
      const int at_v = 6 * (k / 2) + (k % 2 ? 5 : 1), at_w = 6 * (k / 2) + (k % 2 ? 4 : 2);
      const double sign = k % 2 ? -1 : 1;  // θy = -w'
      const auto i = static_cast<std::size_t>(k);
      f.v[at_v] = y.v[i];
      f.dv[at_v] = y.dv[i];
      f.tz[at_v] = y.t[i];
      f.dtz[at_v] = y.dt[i];
      f.w[at_w] = sign * z.v[i];
      f.dw[at_w] = sign * z.dv[i];
      f.ty[at_w] = -sign * z.t[i];
      f.dty[at_w] = -sign * z.dt[i];
    }
    return f;
  }

  void assemble() {
    std::vector<Eigen::Triplet<double>> mass, stiffness;
    for (std::size_t e = 0; e < elements(); ++e) {
      Eigen::Matrix<double, 12, 12> Me = Eigen::Matrix<double, 12, 12>::Zero(), Ke = Me;
      const double l = s_[e + 1] - s_[e];
      for (std::size_t g = 0; g < kPoints.size(); ++g) {
        const Fields f = fields(e, kPoints[g]);
        const BeamSection at = section(s_[e] + kPoints[g] * l);
        const double weight = kWeights[g] * l, E = o_.youngs_modulus, G = o_.shear_modulus, rho = o_.density;
        const auto add = [&](Eigen::Matrix<double, 12, 12>& A, double factor, const Row& row) {
          A.noalias() += weight * factor * row.transpose() * row;
        };
        for (const Row* row : {&f.u, &f.v, &f.w}) add(Me, rho * at.area, *row);
        add(Me, rho * (at.Iy + at.Iz), f.tx);
        add(Ke, E * at.area, f.du);
        add(Ke, G * at.torsion, f.dtx);
        add(Ke, E * at.Iz, f.dtz);
        add(Ke, E * at.Iy, f.dty);
        if (o_.shear_factor > 0) {
          add(Me, rho * at.Iz, f.tz);
          add(Me, rho * at.Iy, f.ty);
          add(Ke, o_.shear_factor * G * at.area, f.dv - f.tz);
          add(Ke, o_.shear_factor * G * at.area, f.dw + f.ty);
        }
      }
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j) {
          const Index r = index_[kPerNode * e + static_cast<std::size_t>(i)],
                      c = index_[kPerNode * e + static_cast<std::size_t>(j)];
          if (r < 0 || c < 0) continue;
          mass.emplace_back(static_cast<int>(r), static_cast<int>(c), Me(i, j));
          stiffness.emplace_back(static_cast<int>(r), static_cast<int>(c), Ke(i, j));
        }
    }
    M_.resize(count_, count_);
    K_.resize(count_, count_);
    M_.setFromTriplets(mass.begin(), mass.end());
    K_.setFromTriplets(stiffness.begin(), stiffness.end());
  }

  /// A row over the coordinates of an element as one over η.
  Vector modal(std::size_t element, const Row& row) const {
    Vector result = Vector::Zero(T_.cols());
    for (int i = 0; i < 12; ++i)
      if (const Index k = index_[kPerNode * element + static_cast<std::size_t>(i)]; k >= 0)
        result += row[i] * T_.row(k).transpose();
    return result;
  }

  /// ∫ v'ᵀ v' + w'ᵀ w' over the part [0, ξ] of an element; the rule is exact for it.
  DenseMatrix shortening(std::size_t element, double xi) const {
    const double l = s_[element + 1] - s_[element];
    DenseMatrix sum = DenseMatrix::Zero(T_.cols(), T_.cols());
    for (std::size_t g = 0; g < kPoints.size(); ++g) {
      const Fields f = fields(element, xi * kPoints[g]);
      for (const Row* row : {&f.dv, &f.dw}) {
        const Vector slope = modal(element, *row);
        sum.noalias() += kWeights[g] * xi * l * slope * slope.transpose();
      }
    }
    return sum;
  }

  FlexibleStation station(std::size_t element, double xi, const DenseMatrix& before) const {
    const Fields f = fields(element, xi);
    FlexibleStation it;
    it.position = {s_[element] + xi * (s_[element + 1] - s_[element]), 0, 0};
    it.shift.resize(3, T_.cols());
    it.turn.resize(3, T_.cols());
    int c = 0;
    for (const Row* row : {&f.u, &f.v, &f.w}) it.shift.row(c++) = modal(element, *row).transpose();
    c = 0;
    for (const Row* row : {&f.tx, &f.ty, &f.tz}) it.turn.row(c++) = modal(element, *row).transpose();
    if (!o_.stiffening || !(o_.bends_y || o_.bends_z)) return it;
    const DenseMatrix Q = before + shortening(element, xi);
    if (!Q.isZero(0.0)) it.shortening[0] = -Q;
    return it;
  }

  void add_stations(FlexibleBody& body) const {
    DenseMatrix before = DenseMatrix::Zero(T_.cols(), T_.cols());
    for (std::size_t e = 0; e < elements(); ++e) {
      const double l = s_[e + 1] - s_[e];
      for (std::size_t g = 0; g < kPoints.size(); ++g) {
        FlexibleStation it = station(e, kPoints[g], before);
        const BeamSection at = section(it.position.x());
        const double length = kWeights[g] * l * o_.density;
        it.mass = length * at.area;
        it.inertia(0, 0) = length * (at.Iy + at.Iz);
        if (o_.shear_factor > 0) {
          it.inertia(1, 1) = length * at.Iy;
          it.inertia(2, 2) = length * at.Iz;
        } else {
          it.turn.bottomRows<2>().setZero();  // without inertia they would turn nothing
        }
        body.stations.push_back(std::move(it));
      }
      for (const auto& [name, s] : named_) {
        const std::size_t node = node_at(s);
        if (node != e && !(node == e + 1 && e + 1 == elements())) continue;
        FlexibleStation it = station(e, node == e ? 0.0 : 1.0, before);
        it.node = name;
        body.stations.push_back(std::move(it));
      }
      if (o_.stiffening) before += shortening(e, 1.0);
    }
  }

  const BeamOptions& o_;
  std::vector<double> s_;
  std::vector<std::pair<std::string, double>> named_;
  std::vector<Index> index_;
  Index count_ = 0;
  SparseMatrix M_, K_;
  DenseMatrix T_;
};

}  // namespace

FlexibleBody make_beam(const BeamOptions& options) {
  options.validate();
  return BeamBuilder(options).build();
}

}  // namespace stickslip
