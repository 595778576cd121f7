// SPDX-License-Identifier: Apache-2.0

#include "packing.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>

namespace packing {

namespace {

Point operator+(const Point& a, const Point& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point operator*(double s, const Point& a) { return {s * a[0], s * a[1], s * a[2]}; }
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double norm(const Point& a) { return std::sqrt(dot(a, a)); }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Spheres by cells as wide as the largest diameter, so that neighbours lie in 27 cells.
class Cells {
 public:
  explicit Cells(double width) : width_(width) {}
  void add(int index, const Point& p) { cells_[key(p)].push_back(index); }
  template <class F>
  void near(const Point& p, F&& f) const {
    const std::array<int, 3> k = key(p);
    for (int x = -1; x <= 1; ++x)
      for (int y = -1; y <= 1; ++y)
        for (int z = -1; z <= 1; ++z)
          if (const auto found = cells_.find({k[0] + x, k[1] + y, k[2] + z}); found != cells_.end())
            for (const int index : found->second) f(index);
  }

 private:
  std::array<int, 3> key(const Point& p) const {
    return {static_cast<int>(std::floor(p[0] / width_)), static_cast<int>(std::floor(p[1] / width_)),
            static_cast<int>(std::floor(p[2] / width_))};
  }
  double width_;
  std::map<std::array<int, 3>, std::vector<int>> cells_;
};

// What touches a sphere at p: unit normals towards it, with the gaps.
struct Touch {
  Point normal;
  double gap;
};

// Steepest descent of the centre over the touching surfaces. The direction is the projection of -e_z on the cone of
// motions that leave or keep all touching surfaces; with at most a handful of them, cyclic projection finds it.
class Roller {
 public:
  Roller(const std::vector<Sphere>& placed, const Cells& cells, double half_width)
      : placed_(placed), cells_(cells), half_width_(half_width) {}

  Point settle(Point p, double radius) const {
    const double longest = 0.2 * radius;
    double step = longest;
    for (int iteration = 0; iteration < 2000 && step > 1e-12 * radius; ++iteration) {
      const Point direction = descent(touches(p, radius, 1e-9 * radius));
      if (norm(direction) < 1e-9) break;
      Point next = p + step * direction;
      if (push_out(next, radius) && next[2] < p[2] - 1e-3 * step * norm(direction)) {
        p = next;
        step = std::min(1.5 * step, longest);
      } else {
        step *= 0.5;
      }
    }
    return p;
  }

 private:
  std::vector<Touch> touches(const Point& p, double radius, double tolerance) const {
    std::vector<Touch> list;
    auto add = [&](const Point& normal, double gap) {
      if (gap < tolerance) list.push_back({normal, gap});
    };
    add({0, 0, 1}, p[2] - radius);
    for (const int axis : {0, 1}) {
      Point normal{};
      normal[static_cast<std::size_t>(axis)] = 1;
      add(normal, p[static_cast<std::size_t>(axis)] - radius + half_width_);
      add(-1 * normal, half_width_ - p[static_cast<std::size_t>(axis)] - radius);
    }
    cells_.near(p, [&](int index) {
      const Sphere& other = placed_[static_cast<std::size_t>(index)];
      const Point d = p - other.center;
      const double distance = norm(d);
      add((1 / distance) * d, distance - radius - other.radius);
    });
    return list;
  }

  // Dykstra's projection of -e_z on { d : n·d >= 0 for all touching }.
  static Point descent(const std::vector<Touch>& list) {
    Point d{0, 0, -1};
    std::vector<double> removed(list.size(), 0);
    for (int sweep = 0; sweep < 200; ++sweep) {
      double change = 0;
      for (std::size_t k = 0; k < list.size(); ++k) {
        const double correction = std::max(0.0, removed[k] - dot(list[k].normal, d));
        change = std::max(change, std::abs(correction - removed[k]));
        d = d + (correction - removed[k]) * list[k].normal;
        removed[k] = correction;
      }
      if (change < 1e-14) break;
    }
    return d;
  }

  bool push_out(Point& p, double radius) const {
    for (int sweep = 0; sweep < 100; ++sweep) {
      double worst = 0;
      for (const Touch& touch : touches(p, radius, 0)) {
        p = p + (-touch.gap) * touch.normal;
        worst = std::max(worst, -touch.gap);
      }
      if (worst < 1e-10 * radius) return true;
    }
    return false;
  }

  const std::vector<Sphere>& placed_;
  const Cells& cells_;
  double half_width_;
};

struct Contact {
  int above, below;  // below < 0: floor or wall
  Point normal;      // towards `above`
  double gap;
};

std::vector<Contact> contacts_of(const std::vector<Sphere>& spheres, const ContactOptions& options) {
  double mean = 0, largest = 0;
  for (const Sphere& sphere : spheres) {
    mean += sphere.radius / static_cast<double>(spheres.size());
    largest = std::max(largest, sphere.radius);
  }
  const double limit = options.gap * mean;
  Cells cells(2 * largest + limit);
  for (int k = 0; k < static_cast<int>(spheres.size()); ++k) cells.add(k, spheres[static_cast<std::size_t>(k)].center);
  std::vector<Contact> contacts;
  for (int k = 0; k < static_cast<int>(spheres.size()); ++k) {
    const Sphere& sphere = spheres[static_cast<std::size_t>(k)];
    auto wall = [&](const Point& normal, double gap) {
      if (gap < limit) contacts.push_back({k, -1, normal, std::max(gap, 0.0)});
    };
    wall({0, 0, 1}, sphere.center[2] - sphere.radius);
    if (options.wall_distance > 0)
      for (const std::size_t axis : {0, 1}) {
        Point normal{};
        normal[axis] = 1;
        wall(normal, sphere.center[axis] - sphere.radius + options.wall_distance);
        wall(-1 * normal, options.wall_distance - sphere.center[axis] - sphere.radius);
      }
    cells.near(sphere.center, [&](int other) {
      if (other >= k) return;
      const Point d = sphere.center - spheres[static_cast<std::size_t>(other)].center;
      const double distance = norm(d), gap = distance - sphere.radius - spheres[static_cast<std::size_t>(other)].radius;
      if (gap < limit) contacts.push_back({k, other, (1 / distance) * d, std::max(gap, 0.0)});
    });
  }
  return contacts;
}

}  // namespace

std::vector<Sphere> pyramid(int n, double radius) {
  std::vector<Sphere> spheres;
  for (int layer = 0; layer < n; ++layer) {
    const int side = n - layer;
    const double z = radius + layer * radius * std::numbers::sqrt2;
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j)
        spheres.push_back({{radius * (2 * i - side + 1), radius * (2 * j - side + 1), z}, radius});
  }
  return spheres;
}

std::vector<Sphere> close_packing(int nx, int ny, int nz, double radius) {
  std::vector<Sphere> spheres;
  const double row = std::sqrt(3.0) * radius, layer = 2 * std::sqrt(2.0 / 3.0) * radius;
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i)
        spheres.push_back({{radius * (2 * i + (j + k) % 2), row * (j + (k % 2) / 3.0), radius + layer * k}, radius});
  return spheres;
}

std::vector<Sphere> deposit(int count, double radius, double width, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Sphere> spheres;
  Cells cells(2.6 * radius * 1.01);
  const Roller roller(spheres, cells, width / 2);
  double top = 0;
  for (int k = 0; k < count; ++k) {
    const double r = radius * (0.7 + 0.6 * uniform(engine));
    const double room = width - 2 * r;
    const Point start{room * (uniform(engine) - 0.5), room * (uniform(engine) - 0.5), top + 2 * r};
    const Point rest = roller.settle(start, r);
    spheres.push_back({rest, r});
    cells.add(k, rest);
    top = std::max(top, rest[2] + r);
  }
  return spheres;
}

stickslip::GlobalContactProblem contact_problem(const std::vector<Sphere>& spheres, const ContactOptions& options) {
  using stickslip::Index;
  using Triplet = Eigen::Triplet<double, int>;
  const std::vector<Contact> contacts = contacts_of(spheres, options);
  const auto n = static_cast<Index>(6 * spheres.size()), m = static_cast<Index>(3 * contacts.size());
  constexpr double gravity = 9.81;
  stickslip::GlobalContactProblem problem;
  problem.f = stickslip::Vector::Zero(n);
  problem.w = stickslip::Vector::Zero(m);
  problem.mu = stickslip::Vector::Constant(static_cast<Index>(contacts.size()), options.mu);
  std::vector<Triplet> mass, directions;
  for (int k = 0; k < static_cast<int>(spheres.size()); ++k) {
    const double r = spheres[static_cast<std::size_t>(k)].radius;
    const double weight = options.density * 4.0 / 3.0 * std::numbers::pi * r * r * r;
    for (int c = 0; c < 3; ++c) {
      mass.emplace_back(6 * k + c, 6 * k + c, weight);
      mass.emplace_back(6 * k + 3 + c, 6 * k + 3 + c, 0.4 * weight * r * r);
    }
    problem.f[6 * k + 2] = -options.step * weight * gravity;
  }
  for (int k = 0; k < static_cast<int>(contacts.size()); ++k) {
    const Contact& contact = contacts[static_cast<std::size_t>(k)];
    const Point& normal = contact.normal;
    const Point helper = std::abs(normal[0]) < 0.8 ? Point{1, 0, 0} : Point{0, 1, 0};
    Point tangent = cross(normal, helper);
    tangent = (1 / norm(tangent)) * tangent;
    const std::array<Point, 3> frame{normal, tangent, cross(normal, tangent)};
    problem.w[3 * k] = contact.gap / options.step;
    for (int c = 0; c < 3; ++c) {
      // Velocity of the point of contact: v + ω × (∓ r n), along e: e·v + (∓ r n × e)·ω.
      auto add = [&](int body, double sign, double arm) {
        const Point e = sign * frame[static_cast<std::size_t>(c)], lever = cross(arm * normal, e);
        for (int x = 0; x < 3; ++x) {
          if (e[static_cast<std::size_t>(x)] != 0)
            directions.emplace_back(6 * body + x, 3 * k + c, e[static_cast<std::size_t>(x)]);
          if (c > 0 && lever[static_cast<std::size_t>(x)] != 0)
            directions.emplace_back(6 * body + 3 + x, 3 * k + c, lever[static_cast<std::size_t>(x)]);
        }
      };
      add(contact.above, 1, -spheres[static_cast<std::size_t>(contact.above)].radius);
      if (contact.below >= 0) add(contact.below, -1, spheres[static_cast<std::size_t>(contact.below)].radius);
    }
  }
  problem.M.resize(n, n);
  problem.M.setFromTriplets(mass.begin(), mass.end());
  problem.H.resize(n, m);
  problem.H.setFromTriplets(directions.begin(), directions.end());
  return problem;
}

}  // namespace packing
