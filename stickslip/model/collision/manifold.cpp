// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/manifold.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stickslip {
namespace {

constexpr double steepest_face = 0.1;  // cosine between the normals of face and contact
constexpr double flattest_side = 0.5;  // a cylinder shows its side below this cosine between axis and n
constexpr int side_line = 16;          // number of the edge that stands for the side

struct Frame {
  Vector3 t1, t2, n;
  PlanePoint project(const Vector3& x) const { return {t1.dot(x), t2.dot(x)}; }
};

void clear(FacingFeature& f) {
  f.corners.clear();
  f.vertices.clear();
  f.edges.clear();
  f.hx = f.hy = 0.0;
}

void push(FacingFeature& f, const Frame& frame, const Vector3& x, FeatureTag vertex, FeatureTag edge) {
  f.corners.push_back(frame.project(x));
  f.vertices.push_back(vertex);
  f.edges.push_back(edge);
}

void set_plane(FacingFeature& f, const Frame& frame, const Vector3& normal, const Vector3& point) {
  const double along = normal.dot(frame.n);
  f.h0 = normal.dot(point) / along;
  f.hx = -normal.dot(frame.t1) / along;
  f.hy = -normal.dot(frame.t2) / along;
}

void set_segment(FacingFeature& f, const Frame& frame, const Vector3& p, const Vector3& q, FeatureTag tp, FeatureTag tq,
                 FeatureTag edge) {
  push(f, frame, p, tp, edge);
  push(f, frame, q, tq, edge);
  const PlanePoint d = f.corners[1] - f.corners[0];
  const double length = d.x * d.x + d.y * d.y, rise = frame.n.dot(q - p);
  f.hx = rise * d.x / length;
  f.hy = rise * d.y / length;
  f.h0 = frame.n.dot(p) - f.hx * f.corners[0].x - f.hy * f.corners[0].y;
}

void face_of_cylinder(const Convex& body, const Vector3& d, const Frame& frame, FacingFeature& f) {
  const FacingPoints facing = facing_points_of_cylinder(body, d);
  if (facing.count == 2) {
    set_segment(f, frame, facing.x[0], facing.x[1], facing.tag[0], facing.tag[1], edge_tag(side_line));
    return;
  }
  for (int k = 0; k < 4; ++k)
    push(f, frame, facing.x[k], facing.tag[k], edge_tag(static_cast<int>(facing.tag[k] & 15U)));
  set_plane(f, frame, body.R.col(2), 0.5 * (facing.x[0] + facing.x[2]));
}

/// The feature of `body` that looks along d = ±n.
void facing_feature(const Convex& body, const Vector3& d, const Frame& frame, FacingFeature& f) {
  clear(f);
  if (body.geometry->kind == ShapeKind::cylinder) {
    face_of_cylinder(body, d, frame, f);
  } else {
    const Polyhedron& core = body.geometry->core;
    const auto world = [&](int i) { return Vector3(body.x + body.R * core.vertices[i]); };
    const int at = support_vertex(body, d);
    const Vector3 local = body.R.transpose() * d;
    int face = -1;
    double best = steepest_face;
    for (int k = core.vertex_face_start[at]; k < core.vertex_face_start[at + 1]; ++k) {
      const double facing = local.dot(core.normals[core.vertex_faces[k]]);
      if (facing > best) {
        best = facing;
        face = core.vertex_faces[k];
      }
    }
    if (face >= 0) {
      for (int k = core.face_start[face]; k < core.face_start[face + 1]; ++k) {
        push(f, frame, world(core.face_vertices[k]), vertex_tag(core.face_vertices[k]), edge_tag(core.face_edges[k]));
      }
      set_plane(f, frame, body.R * core.normals[face], world(core.face_vertices[core.face_start[face]]));
    } else {
      int edge = -1;
      double flattest = 2.0;
      for (int k = core.vertex_edge_start[at]; k < core.vertex_edge_start[at + 1]; ++k) {
        const auto [i, j] = core.edges[core.vertex_edges[k]];
        const double slope = std::abs(local.dot((core.vertices[j] - core.vertices[i]).normalized()));
        if (slope < flattest) {
          flattest = slope;
          edge = core.vertex_edges[k];
        }
      }
      if (edge < 0 || flattest > 0.98) {
        push(f, frame, world(at), vertex_tag(at), no_feature);
        f.h0 = frame.n.dot(world(at));
      } else {
        const auto [i, j] = core.edges[edge];
        set_segment(f, frame, world(i), world(j), vertex_tag(i), vertex_tag(j), edge_tag(edge));
      }
    }
  }
  const std::size_t count = f.corners.size();
  if (count >= 3 && (f.corners[1] - f.corners[0]).cross(f.corners[2] - f.corners[0]) < 0.0) {
    std::reverse(f.corners.begin(), f.corners.end());
    std::reverse(f.vertices.begin(), f.vertices.end());
    std::reverse(f.edges.begin(), f.edges.end() - 1);
  }
}

/// Where a side of the polygon under work meets side k of the clipping polygon.
ClipCorner crossing(const ClipCorner& from, const ClipCorner& to, double t, const FacingFeature& clip, int clip_of,
                    int k) {
  ClipCorner c;
  c.p = {from.p.x + t * (to.p.x - from.p.x), from.p.y + t * (to.p.y - from.p.y)};
  if (from.edge_of != clip_of) {
    c.tag[from.edge_of] = from.edge;
    c.tag[clip_of] = clip.edges[k];
    return c;
  }
  // Two sides of the clipping polygon meet in one of its corners.
  const int n = static_cast<int>(clip.corners.size());
  c.tag[clip_of] = (from.clip_side + 1) % n == k ? clip.vertices[k] : clip.vertices[(k + 1) % n];
  return c;
}

/// Sutherland and Hodgman 1974: `subject` (any number of corners) cut by each side of the convex polygon `clip`.
void clip_polygon(const FacingFeature& subject, int subject_of, const FacingFeature& clip, double tolerance,
                  ManifoldWorkspace& ws) {
  ws.corners.clear();
  for (std::size_t i = 0; i < subject.corners.size(); ++i) {
    ClipCorner c;
    c.p = subject.corners[i];
    c.tag[subject_of] = subject.vertices[i];
    c.edge = subject.edges[i];
    c.edge_of = subject_of;
    ws.corners.push_back(c);
  }
  const int sides = static_cast<int>(clip.corners.size()), clip_of = 1 - subject_of;
  for (int k = 0; k < sides && !ws.corners.empty(); ++k) {
    const PlanePoint origin = clip.corners[k], side = clip.corners[(k + 1) % sides] - origin;
    const double length = std::hypot(side.x, side.y);
    const auto inside = [&](const ClipCorner& c) { return side.cross(c.p - origin) / length; };
    ws.clipped.clear();
    for (std::size_t i = 0; i < ws.corners.size(); ++i) {
      const ClipCorner& from = ws.corners[i];
      const ClipCorner& to = ws.corners[(i + 1) % ws.corners.size()];
      const double d0 = inside(from), d1 = inside(to);
      const bool keep = d0 >= -tolerance, keep_next = d1 >= -tolerance;
      if (keep) ws.clipped.push_back(from);
      if (keep == keep_next) continue;
      ClipCorner c = crossing(from, to, std::clamp(d0 / (d0 - d1), 0.0, 1.0), clip, clip_of, k);
      c.edge = keep ? clip.edges[k] : from.edge;
      c.edge_of = keep ? clip_of : from.edge_of;
      c.clip_side = keep ? k : from.clip_side;
      ws.clipped.push_back(c);
    }
    std::swap(ws.corners, ws.clipped);
  }
}

/// Two segments, or a segment and a point: the ends of the common part if they are parallel, else the crossing.
void clip_segments(const FacingFeature& a, const FacingFeature& b, double tolerance, ManifoldWorkspace& ws) {
  ws.corners.clear();
  if (a.corners.size() != 2 || b.corners.size() != 2) return;
  const FacingFeature* f[2] = {&a, &b};
  const PlanePoint da = a.corners[1] - a.corners[0], db = b.corners[1] - b.corners[0];
  const double la = std::hypot(da.x, da.y), lb = std::hypot(db.x, db.y);
  if (!(la > tolerance && lb > tolerance)) return;
  const double sine = da.cross(db) / (la * lb);
  if (std::abs(sine) * std::min(la, lb) > tolerance) {
    const PlanePoint between = b.corners[0] - a.corners[0];
    const double s = between.cross(db) / da.cross(db), t = between.cross(da) / da.cross(db);
    if (std::abs(s - 0.5) * la <= 0.5 * la + tolerance && std::abs(t - 0.5) * lb <= 0.5 * lb + tolerance) {
      ClipCorner c;
      c.p = {a.corners[0].x + s * da.x, a.corners[0].y + s * da.y};
      c.tag[0] = a.edges[0];
      c.tag[1] = b.edges[0];
      ws.corners.push_back(c);
    }
    return;
  }
  for (int which = 0; which < 2; ++which) {
    const FacingFeature &own = *f[which], &other = *f[1 - which];
    const PlanePoint d = other.corners[1] - other.corners[0];
    const double length = std::hypot(d.x, d.y);
    for (int k = 0; k < 2; ++k) {
      const PlanePoint r = own.corners[k] - other.corners[0];
      const double along = (r.x * d.x + r.y * d.y) / length;
      if (std::abs(d.cross(r)) / length > 10.0 * tolerance || along < -tolerance || along > length + tolerance)
        continue;
      ClipCorner c;
      c.p = own.corners[k];
      c.tag[which] = own.vertices[k];
      ws.corners.push_back(c);
    }
  }
}

}  // namespace

FacingPoints facing_points_of_cylinder(const Convex& body, const Vector3& d) {
  const Geometry& g = *body.geometry;
  const Vector3 local = body.R.transpose() * d;
  const double across = std::hypot(local.x(), local.y());
  const bool flat = across <= flat_cap;
  const Vector3 u = flat ? Vector3(1.0, 0.0, 0.0) : Vector3(local.x() / across, local.y() / across, 0.0);
  const Vector3 v(-u.y(), u.x(), 0.0), h(0.0, 0.0, g.half_length);
  FacingPoints f;
  const auto add = [&](const Vector3& x, int tag) {
    f.x[f.count] = body.x + body.R * x;
    f.tag[f.count++] = vertex_tag(tag);
  };
  if (std::abs(local.z()) < flattest_side) {
    add(g.radius * u - h, 4);
    add(g.radius * u + h, 12);
    return f;
  }
  const int first = (flat ? 0 : 4) + (local.z() > 0.0 ? 8 : 0);
  const Vector3 centre = local.z() > 0.0 ? h : Vector3(-h);
  add(centre + g.radius * u, first);
  add(centre + g.radius * v, first + 1);
  add(centre - g.radius * u, first + 2);
  add(centre - g.radius * v, first + 3);
  return f;
}

void clip_manifold(const Convex& a, const Convex& b, const Vector3& n, double tolerance, ManifoldWorkspace& ws) {
  const Vector3 t1 = n.unitOrthogonal();
  const Frame frame{t1, n.cross(t1), n};
  FacingFeature &fa = ws.facing[0], &fb = ws.facing[1];
  facing_feature(a, -n, frame, fa);
  facing_feature(b, n, frame, fb);
  if (fb.corners.size() >= 3) {
    clip_polygon(fa, 0, fb, tolerance, ws);
  } else if (fa.corners.size() >= 3) {
    clip_polygon(fb, 1, fa, tolerance, ws);
  } else {
    clip_segments(fa, fb, tolerance, ws);
  }
  ws.points.clear();
  for (std::size_t i = 0; i < ws.corners.size(); ++i) {
    const ClipCorner& c = ws.corners[i];
    const auto near = [&](const ClipCorner& o) { return std::hypot(o.p.x - c.p.x, o.p.y - c.p.y) <= 2.0 * tolerance; };
    if (std::any_of(ws.corners.begin(), ws.corners.begin() + static_cast<std::ptrdiff_t>(i), near)) continue;
    const double ha = fa.height(c.p), hb = fb.height(c.p);
    ManifoldPoint point;
    point.gap = ha - hb;
    point.middle = c.p.x * frame.t1 + c.p.y * frame.t2 + 0.5 * (ha + hb) * n;
    point.tag[0] = c.tag[0];
    point.tag[1] = c.tag[1];
    ws.points.push_back(point);
  }
}

}  // namespace stickslip
