// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/tree_sweeps.hpp"

#include <cmath>

#include "stickslip/model/multibody/sweep_joint.hpp"

namespace stickslip {

using namespace sweep_joint;

namespace {

/// The articulated body as its parent sees it.
inline void add_moved(const Symmetric& I, const Rows& H, const Symmetric& M, const Three& r, TreeSweeps::At& parent) {
  const Rows m = rows_of(M);
  const Rows XM{r.y * m.z - r.z * m.y, r.z * m.x - r.x * m.z, r.x * m.y - r.y * m.x};
  const Rows K{cross(H.x + 0.5 * XM.x, r), cross(H.y + 0.5 * XM.y, r), cross(H.z + 0.5 * XM.z, r)};
  parent.M = parent.M + M;
  parent.H = parent.H + H + XM;
  parent.I = parent.I + Symmetric{I.xx - 2 * K.x.x, I.xy - K.x.y - K.y.x, I.xz - K.x.z - K.z.x,
                                  I.yy - 2 * K.y.y, I.yz - K.y.z - K.z.y, I.zz - 2 * K.z.z};
}

Rows inverse_of(const Rows& A) {
  Eigen::Matrix3d B;
  B << A.x.x, A.x.y, A.x.z, A.y.x, A.y.y, A.y.z, A.z.x, A.z.y, A.z.z;
  return rows_of(Eigen::Matrix3d(B.inverse()));
}

constexpr double kGrid = 16;  // per radian: cosine and sine are kept at angles k/16, and turned on from there

/// x to the next integer, whatever the mode of rounding is set to.
inline double nearest(double x) {
  constexpr double kNoFraction = 0x1.8p52;  // numbers of that size have none
  return (x + kNoFraction) - kNoFraction;
}

inline double size_of(const Three& a) { return std::abs(a.x) + std::abs(a.y) + std::abs(a.z); }

}  // namespace

TreeSweeps::TreeSweeps(const Tree& tree, const Eigen::Vector3d& gravity)
    : gravity_(three(gravity)), length_(tree.length), n_(tree.nv()) {
  std::vector<int> last_child(tree.links.size() + 1, -1);
  for (const Link& link : tree.links) {
    Part part;
    part.parent = link.parent + 1;
    part.joint = link.kind == JointKind::rotation ? link.axis : link.kind == JointKind::translation ? 3 : 4;
    part.turned = link.turned;
    part.q = link.q;
    part.v = link.v;
    part.mass = link.mass;
    part.offset = three(link.offset);
    part.moment = three(link.moment);
    part.inertia = symmetric(link.inertia);
    part.turn = rows_of(link.turn);
    if (link.kind == JointKind::translation) {
      part.axis = three(Eigen::Vector3d::Unit(link.axis));
      part.along = three(Eigen::Vector3d(link.turn.col(link.axis)));
    }
    single_axes_ &= link.kind != JointKind::ball;
    int& before = last_child[static_cast<std::size_t>(part.parent)];
    if (before >= 0) links_[static_cast<std::size_t>(before)].last = false;
    before = static_cast<int>(links_.size());
    links_.push_back(part);
  }
  std::vector<double> mass(links_.size() + 1, 0.0);
  for (std::size_t i = links_.size(); i-- > 0;) {
    Part& part = links_[i];
    mass[i + 1] += part.mass;
    mass[static_cast<std::size_t>(part.parent)] += mass[i + 1];
    part.weight = gravity.norm() * mass[i + 1] * (part.joint == 3 ? 1.0 : length_);
  }
}

TreeSweeps::Memory TreeSweeps::make_memory() const {
  Memory memory(links_.size() + 1);
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (links_[i].joint == 4) memory[i + 1].ball = std::make_unique<BallAt>();
  return memory;
}

template <class Joint>
inline Three TreeSweeps::to_link(const Part& part, const At& it, Three x) {
  if constexpr (Joint::axis == Ball::axis) return transposed_times(it.ball->turn, x);
  if (part.turned) x = transposed_times(part.turn, x);
  if constexpr (turns<Joint>) return turned<Joint::axis>(x, it.cosine, -it.sine);
  return x;
}

template <class Joint>
inline Three TreeSweeps::to_parent(const Part& part, const At& it, Three x) {
  if constexpr (Joint::axis == Ball::axis) return it.ball->turn * x;
  if constexpr (turns<Joint>) x = turned<Joint::axis>(x, it.cosine, it.sine);
  return part.turned ? part.turn * x : x;
}

/// Of a moment and a force, what acts along a single axis.
template <class Joint>
inline double TreeSweeps::along_axis(const Part& part, const Three& n, const Three& f) {
  if constexpr (turns<Joint>) return entry<Joint::axis>(n);
  return dot(part.axis, f);
}

/// Angles change little from call to call: cosine and sine of the nearest k/16 are kept, and series over the rest,
/// which is 1/32 at most, leave out less than 3e-17. What was kept before does not show in the result.
inline void TreeSweeps::turn_to(double angle, At& it) {
  const double near = nearest(angle * kGrid) / kGrid;
  if (near != it.near) {
    it.near = near;
    it.near_cosine = std::cos(near);
    it.near_sine = std::sin(near);
  }
  const double x = angle - near, y = x * x;
  constexpr double s3 = -1.0 / 6, s5 = 1.0 / 120, s7 = -1.0 / 5040, c4 = -1.0 / 24, c6 = 1.0 / 720;
  const double sine = x + x * y * (s3 + y * (s5 + y * s7));
  const double less = y * (0.5 + y * (c4 + y * c6));  // 1 - cosine
  it.cosine = it.near_cosine - (it.near_cosine * less + it.near_sine * sine);
  it.sine = it.near_sine - (it.near_sine * less - it.near_cosine * sine);
}

void TreeSweeps::place(const double* q, Memory& at) const {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Part& part = links_[i];
    At& it = at[i + 1];
    it.r = part.offset;
    if (part.joint < 3) {
      turn_to(q[part.q], it);
    } else if (part.joint == 3) {
      it.r += q[part.q] * part.along;
    } else {
      const double w = q[part.q], x = q[part.q + 1], y = q[part.q + 2], z = q[part.q + 3];
      const Rows R{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                   {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                   {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
      it.ball->turn = part.turned ? part.turn * R : R;
    }
  }
}

template <class Joint>
inline void TreeSweeps::accelerate(const Part& part, const double* v, const double* a, const At& parent, At& it) const {
  const Three wp = to_link<Joint>(part, it, parent.w);
  Three alpha = to_link<Joint>(part, it, parent.alpha);
  Three acc = to_link<Joint>(part, it, parent.a + cross(parent.alpha, it.r) + cross(parent.w, cross(parent.w, it.r)));
  Three w = wp;
  if constexpr (turns<Joint>) {
    constexpr int k = Joint::axis;
    const double rate = v[part.v];
    entry<k>(w) += rate;
    entry<k>(alpha) += a[part.v];
    entry<k + 1>(alpha) += rate * entry<k + 2>(wp);
    entry<k + 2>(alpha) += -rate * entry<k + 1>(wp);
  } else if constexpr (Joint::axis == Sliding::axis) {
    acc += a[part.v] * part.axis + (2 * v[part.v]) * cross(wp, part.axis);
  } else {
    const Three rate{v[part.v], v[part.v + 1], v[part.v + 2]};
    w += rate;
    alpha += Three{a[part.v], a[part.v + 1], a[part.v + 2]} + cross(wp, rate);
  }
  it.w = w;
  it.alpha = alpha;
  it.a = acc;
  const Three& h = part.moment;
  it.f = part.mass * acc + cross(alpha, h) + cross(w, cross(w, h));
  it.n = part.inertia * alpha + cross(h, acc) + cross(w, part.inertia * w);
}

template <class Joint>
inline void TreeSweeps::carry(const Part& part, const At& it, At& parent, double* tau, double* load) const {
  const double n = size_of(it.n), f = size_of(it.f);
  if constexpr (turns<Joint>) {
    tau[part.v] = along_axis<Joint>(part, it.n, it.f);
    load[part.v] = part.weight + n + length_ * f;
  } else if constexpr (Joint::axis == Sliding::axis) {
    tau[part.v] = along_axis<Joint>(part, it.n, it.f);
    load[part.v] = part.weight + (length_ > 0 ? f + n / length_ : f);
  } else {
    tau[part.v] = it.n.x;
    tau[part.v + 1] = it.n.y;
    tau[part.v + 2] = it.n.z;
    load[part.v] = load[part.v + 1] = load[part.v + 2] = part.weight + n + length_ * f;
  }
  const Three force = to_parent<Joint>(part, it, it.f);
  parent.f += force;
  parent.n += to_parent<Joint>(part, it, it.n) + cross(it.r, force);
}

void TreeSweeps::imbalance(const double* v, const double* a, Memory& at, double* tau, double* load) const {
  at[0].w = at[0].alpha = at[0].n = at[0].f = {};
  at[0].a = -1.0 * gravity_;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Part& part = links_[i];
    const At& parent = at[static_cast<std::size_t>(part.parent)];
    with_joint(part.joint, [&](auto joint) { accelerate<decltype(joint)>(part, v, a, parent, at[i + 1]); });
  }
  for (std::size_t i = links_.size(); i-- > 0;) {
    const Part& part = links_[i];
    At& parent = at[static_cast<std::size_t>(part.parent)];
    with_joint(part.joint, [&](auto joint) { carry<decltype(joint)>(part, at[i + 1], parent, tau, load); });
  }
}

template <class Joint>
inline bool TreeSweeps::reduce(const Part& part, const char* held, const double* diagonal, At& it, At& parent) const {
  Symmetric I = it.I, M = it.M;
  Rows H = it.H;
  if constexpr (Joint::axis == Ball::axis) {
    it.ball->Un = rows_of(I);
    it.ball->Uf = H;
    Rows D = rows_of(I);
    D.x.x += diagonal[part.v];
    D.y.y += diagonal[part.v + 1];
    D.z.z += diagonal[part.v + 2];
    it.ball->D_inverse = inverse_of(D);
    const Rows kn = it.ball->D_inverse * it.ball->Un, kf = it.ball->D_inverse * it.ball->Uf;
    const Rows less_I = transposed(it.ball->Un) * kn, less_H = transposed(it.ball->Un) * kf,
               less_M = transposed(it.ball->Uf) * kf;
    const auto minus = [](const Rows& A, const Rows& B) { return Rows{A.x - B.x, A.y - B.y, A.z - B.z}; };
    I = symmetric(minus(rows_of(I), less_I));
    H = minus(H, less_H);
    M = symmetric(minus(rows_of(M), less_M));
  } else {
    const bool is_held = held[part.v] != 0;
    double D = diagonal[part.v];
    Three Un, Uf;
    if constexpr (turns<Joint>) {
      Un = column<Joint::axis>(I);
      Uf = row<Joint::axis>(H);
    } else {
      Un = H * part.axis;
      Uf = M * part.axis;
    }
    D += along_axis<Joint>(part, Un, Uf);
    if (!(D > 0)) return false;
    it.D = D;
    it.D_inverse = 1 / D;
    it.holds = is_held ? 1.0 : 0.0;
    it.gives = is_held ? 0.0 : it.D_inverse;
    if (!is_held) {
      I = less_square(I, it.D_inverse, Un);
      H = less_product(H, it.D_inverse * Un, Uf);
      M = less_square(M, it.D_inverse, Uf);
    }
    it.Uf = to_parent<Joint>(part, it, Uf);
    it.Un = to_parent<Joint>(part, it, Un) + cross(it.r, it.Uf);
  }
  if constexpr (turns<Joint>) {
    const double c = it.cosine, s = it.sine;
    I = symmetric(turned<Joint::axis>(rows_of(I), c, s));
    H = turned<Joint::axis>(H, c, s);
    M = symmetric(turned<Joint::axis>(rows_of(M), c, s));
  }
  if (part.turned || Joint::axis == Ball::axis) {
    const Rows& turn = it.ball ? it.ball->turn : part.turn;
    I = symmetric(congruent(turn, rows_of(I)));
    H = congruent(turn, H);
    M = symmetric(congruent(turn, rows_of(M)));
  }
  add_moved(I, H, M, it.r, parent);
  return true;
}

bool TreeSweeps::factor(const char* held, const double* diagonal, Memory& at) const {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Part& part = links_[i];
    At& it = at[i + 1];
    const Three& h = part.moment;
    it.I = part.inertia;
    it.M = {part.mass, 0, 0, part.mass, 0, part.mass};
    it.H = {{0, -h.z, h.y}, {h.z, 0, -h.x}, {-h.y, h.x, 0}};
  }
  for (std::size_t i = links_.size(); i-- > 0;) {
    const Part& part = links_[i];
    At& parent = at[static_cast<std::size_t>(part.parent)];
    if (!with_joint(part.joint,
                    [&](auto joint) { return reduce<decltype(joint)>(part, held, diagonal, at[i + 1], parent); }))
      return false;
  }
  return true;
}

template <class Joint>
inline void TreeSweeps::push(const Part& part, At& it, At& parent, const double* x) const {
  Three n = it.pn, f = it.pf;
  if constexpr (Joint::axis == Ball::axis) {
    const Three u = Three{x[part.v], x[part.v + 1], x[part.v + 2]} - n;
    it.ball->u = it.ball->D_inverse * u;
    n += transposed_times(it.ball->Un, it.ball->u);
    f += transposed_times(it.ball->Uf, it.ball->u);
  } else {
    it.u = (it.gives + it.holds) * x[part.v] - it.gives * along_axis<Joint>(part, n, f);
  }
  Three force = to_parent<Joint>(part, it, f);
  Three moment = to_parent<Joint>(part, it, n) + cross(it.r, force);
  if constexpr (Joint::axis != Ball::axis) {
    force += it.u * it.Uf;
    moment += it.u * it.Un;
  }
  parent.pf = part.last ? force : parent.pf + force;
  parent.pn = part.last ? moment : parent.pn + moment;
}

template <class Joint>
inline void TreeSweeps::respond(const Part& part, const At& parent, At& it, double* x) const {
  Three alpha = to_link<Joint>(part, it, parent.alpha);
  Three acc = to_link<Joint>(part, it, parent.a + cross(parent.alpha, it.r));
  if constexpr (Joint::axis == Ball::axis) {
    const Three rate = it.ball->u - it.ball->D_inverse * (it.ball->Un * alpha + it.ball->Uf * acc);
    x[part.v] = rate.x;
    x[part.v + 1] = rate.y;
    x[part.v + 2] = rate.z;
    alpha += rate;
  } else {
    const double carried = dot(it.Un, parent.alpha) + dot(it.Uf, parent.a);
    const double rate = it.u - it.gives * carried;
    const double force = along_axis<Joint>(part, it.pn, it.pf) + carried + it.D * it.u;
    x[part.v] = (1 - it.holds) * rate + it.holds * force;
    if constexpr (turns<Joint>) {
      entry<Joint::axis>(alpha) += rate;
    } else {
      acc += rate * part.axis;
    }
  }
  it.alpha = alpha;
  it.a = acc;
}

void TreeSweeps::solve(Memory& at, double* x) const {
  for (std::size_t i = links_.size(); i-- > 0;) {
    const Part& part = links_[i];
    At& parent = at[static_cast<std::size_t>(part.parent)];
    with_joint(part.joint, [&](auto joint) { push<decltype(joint)>(part, at[i + 1], parent, x); });
  }
  at[0].alpha = at[0].a = {};
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Part& part = links_[i];
    const At& parent = at[static_cast<std::size_t>(part.parent)];
    with_joint(part.joint, [&](auto joint) { respond<decltype(joint)>(part, parent, at[i + 1], x); });
  }
}

void TreeSweeps::inverse_pivots(const Memory& at, double* inverse) const {
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (links_[i].joint < 4) inverse[links_[i].v] = at[i + 1].D_inverse;
}

template <class Joint>
inline TreeEnergies TreeSweeps::energy(const Part& part, const double* v, const At& parent, At& it) const {
  // n is gravity here, f.x how far along it the origin is.
  Three w = to_link<Joint>(part, it, parent.w);
  Three velocity = to_link<Joint>(part, it, parent.a + cross(parent.w, it.r));
  const Three gravity = to_link<Joint>(part, it, parent.n);
  const double along = parent.f.x + dot(parent.n, it.r);
  if constexpr (turns<Joint>) {
    entry<Joint::axis>(w) += v[part.v];
  } else if constexpr (Joint::axis == Sliding::axis) {
    velocity += v[part.v] * part.axis;
  } else {
    w += Three{v[part.v], v[part.v + 1], v[part.v + 2]};
  }
  it.w = w;
  it.a = velocity;
  it.n = gravity;
  it.f.x = along;
  return {
      0.5 * (part.mass * dot(velocity, velocity) + 2 * dot(velocity, cross(w, part.moment)) + dot(w, part.inertia * w)),
      -(part.mass * along + dot(gravity, part.moment))};
}

TreeEnergies TreeSweeps::energies(const double* v, Memory& at) const {
  at[0].w = at[0].a = {};
  at[0].n = gravity_;
  at[0].f.x = 0;
  TreeEnergies sum;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Part& part = links_[i];
    const At& parent = at[static_cast<std::size_t>(part.parent)];
    const TreeEnergies one =
        with_joint(part.joint, [&](auto joint) { return energy<decltype(joint)>(part, v, parent, at[i + 1]); });
    sum.kinetic += one.kinetic;
    sum.potential += one.potential;
  }
  return sum;
}

void TreeSweeps::forward_dynamics(const Vector& q, const Vector& v, const Vector& tau, Memory& at, Vector& a) const {
  thread_local std::vector<char> none;
  thread_local Vector zero, load;
  none.assign(static_cast<std::size_t>(n_), 0);
  zero.setZero(n_);
  load.resize(n_);
  a.resize(n_);
  place(q.data(), at);
  imbalance(v.data(), zero.data(), at, a.data(), load.data());
  a = tau - a;
  factor(none.data(), zero.data(), at);
  solve(at, a.data());
}

}  // namespace stickslip
