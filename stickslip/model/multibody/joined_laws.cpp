// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/joined_laws.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

/// Scratch space of the sources, and what each of them leaves before it is put behind the others.
struct JoinedScratch final : Scratch {
  std::vector<std::unique_ptr<Scratch>> parts;
  std::vector<ContactPoints> found;
  ConstraintRows rows;
  Vector vector, part;
  DenseMatrix matrix;
};

template <class Source>
std::unique_ptr<JoinedScratch> scratch_of(const std::vector<std::unique_ptr<Source>>& sources) {
  auto scratch = std::make_unique<JoinedScratch>();
  for (const auto& source : sources) scratch->parts.push_back(source->make_scratch());
  scratch->found.resize(sources.size());
  return scratch;
}

/// Runs use(source, its number, memory) with the scratch space of the source in its place.
template <class Source, class Use>
void with_each(const std::vector<std::unique_ptr<Source>>& sources, std::unique_ptr<Scratch>& place, Use&& use) {
  auto& memory = static_cast<JoinedScratch&>(*place);
  struct Swap {
    std::unique_ptr<Scratch>&a, &b;
    Swap(std::unique_ptr<Scratch>& first, std::unique_ptr<Scratch>& second) : a(first), b(second) { a.swap(b); }
    ~Swap() { a.swap(b); }
  };
  for (std::size_t k = 0; k < sources.size(); ++k) {
    Swap swap(place, memory.parts[k]);
    use(*sources[k], k, memory);
  }
}

}  // namespace

JoinedConstraints::JoinedConstraints(std::vector<std::unique_ptr<ConstraintSource>> sources, Index nv)
    : sources_(std::move(sources)), nv_(nv) {
  for (const auto& source : sources_)
    elements_.insert(elements_.end(), source->elements().begin(), source->elements().end());
}

std::unique_ptr<Scratch> JoinedConstraints::make_scratch() const { return scratch_of(sources_); }

void JoinedConstraints::evaluate(double t, const Vector& q, SystemWorkspace& workspace, ConstraintRows& rows) const {
  const auto m = static_cast<Index>(elements_.size());
  rows.A.resize(m, nv_);
  rows.rate.resize(m);
  rows.position.resize(m);
  Index first = 0;
  with_each(sources_, workspace.constraints, [&](const ConstraintSource& source, std::size_t, JoinedScratch& memory) {
    source.evaluate(t, q, workspace, memory.rows);
    const Index count = memory.rows.rate.size();
    rows.A.middleRows(first, count) = memory.rows.A;
    rows.rate.segment(first, count) = memory.rows.rate;
    rows.position.segment(first, count) = memory.rows.position;
    first += count;
  });
}

void JoinedConstraints::bias(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                             Vector& bias) const {
  bias.resize(static_cast<Index>(elements_.size()));
  Index first = 0;
  with_each(sources_, workspace.constraints, [&](const ConstraintSource& source, std::size_t, JoinedScratch& memory) {
    source.bias(t, q, v, workspace, memory.vector);
    bias.segment(first, memory.vector.size()) = memory.vector;
    first += memory.vector.size();
  });
}

void JoinedConstraints::force_slopes(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                                     DenseMatrix& by_q) const {
  by_q.setZero(nv_, nv_);
  Index first = 0;
  with_each(sources_, workspace.constraints, [&](const ConstraintSource& source, std::size_t, JoinedScratch& memory) {
    const auto count = static_cast<Index>(source.elements().size());
    memory.part = lambda.segment(first, count);
    source.force_slopes(t, q, memory.part, workspace, memory.matrix);
    by_q += memory.matrix;
    first += count;
  });
}

void JoinedConstraints::velocity_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                        DenseMatrix& by_q) const {
  by_q.resize(static_cast<Index>(elements_.size()), nv_);
  Index first = 0;
  with_each(sources_, workspace.constraints, [&](const ConstraintSource& source, std::size_t, JoinedScratch& memory) {
    source.velocity_slopes(t, q, v, workspace, memory.matrix);
    by_q.middleRows(first, memory.matrix.rows()) = memory.matrix;
    first += memory.matrix.rows();
  });
}

bool JoinedConstraints::constant_rows() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const auto& source) { return source->constant_rows(); });
}

void JoinedConstraints::append_breakpoints(BreakpointSearch& search) const {
  for (const auto& source : sources_) source->append_breakpoints(search);
}

void JoinedConstraints::append_time_functions(std::vector<const StateFunction*>& functions) const {
  for (const auto& source : sources_) source->append_time_functions(functions);
}

JoinedContacts::JoinedContacts(std::vector<std::unique_ptr<ContactSource>> sources) : sources_(std::move(sources)) {
  for (const auto& source : sources_) laws_.insert(laws_.end(), source->laws().begin(), source->laws().end());
}

std::unique_ptr<Scratch> JoinedContacts::make_scratch() const { return scratch_of(sources_); }

ThreadPool* JoinedContacts::threads(SystemWorkspace& workspace) const {
  ThreadPool* threads = nullptr;
  with_each(sources_, workspace.contacts, [&](const ContactSource& source, std::size_t, JoinedScratch&) {
    if (!threads) threads = source.threads(workspace);
  });
  return threads;
}

void JoinedContacts::find(double t, const Vector& q, double margin, SystemWorkspace& workspace,
                          ContactPoints& found) const {
  auto& joined = static_cast<JoinedScratch&>(*workspace.contacts);
  with_each(sources_, workspace.contacts, [&](const ContactSource& source, std::size_t k, JoinedScratch& memory) {
    source.find(t, q, margin, workspace, memory.found[k]);
  });
  found.points.clear();
  Index rows = 0, entries = 0, columns = 0;
  for (const ContactPoints& part : joined.found) {
    rows += part.Wt.rows();
    entries += part.Wt.nonZeros();
    columns = std::max<Index>(columns, part.Wt.cols());
  }
  if (found.Wt.rows() != rows || found.Wt.cols() != columns) found.Wt.resize(rows, columns);
  found.Wt.setZero();
  found.Wt.reserve(entries);
  found.w.resize(rows);
  found.rows_of = nullptr;
  found.rows_version = 0;
  Index row = 0;
  int law = 0;
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    const ContactPoints& part = joined.found[k];
    for (ContactSite point : part.points) {
      point.law += law;
      point.key ^= static_cast<decltype(point.key)>(k) << 62;  // sources number their points each for itself
      found.points.push_back(point);
    }
    for (Index i = 0; i < part.Wt.rows(); ++i, ++row) {
      found.Wt.startVec(row);
      for (SparseMatrix::InnerIterator entry(part.Wt, i); entry; ++entry)
        found.Wt.insertBack(row, entry.col()) = entry.value();
      found.w[row] = part.w[i];
    }
    law += static_cast<int>(sources_[k]->laws().size());
  }
  found.Wt.finalize();
}

void JoinedContacts::surface(double t, const Vector& q, SystemWorkspace& workspace, const ContactPoints& found,
                             Vector& w) const {
  w.resize(found.w.size());
  Index first = 0;
  with_each(sources_, workspace.contacts, [&](const ContactSource& source, std::size_t k, JoinedScratch& memory) {
    source.surface(t, q, workspace, memory.found[k], memory.vector);
    w.segment(first, memory.vector.size()) = memory.vector;
    first += memory.vector.size();
  });
}

void JoinedContacts::bias(double t, const Vector& q, const Vector& v, double margin, SystemWorkspace& workspace,
                          Vector& bias) const {
  auto& joined = static_cast<JoinedScratch&>(*workspace.contacts);
  joined.part.resize(0);
  Index size = 0;
  with_each(sources_, workspace.contacts, [&](const ContactSource& source, std::size_t, JoinedScratch& memory) {
    source.bias(t, q, v, margin, workspace, memory.vector);
    memory.part.conservativeResize(size + memory.vector.size());
    memory.part.tail(memory.vector.size()) = memory.vector;
    size += memory.vector.size();
  });
  bias = joined.part;
}

bool JoinedContacts::surfaces_move() const {
  return std::any_of(sources_.begin(), sources_.end(), [](const auto& source) { return source->surfaces_move(); });
}

bool JoinedContacts::points_stay() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const auto& source) { return source->points_stay(); });
}

bool JoinedContacts::constant_rows() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const auto& source) { return source->constant_rows(); });
}

double JoinedContacts::speed_bound(const Vector& v) const {
  double largest = 0;
  for (const auto& source : sources_) {
    // Stops know no bound of their own: their gaps are coordinates, and no coordinate is faster than the fastest.
    const double bound = source->speed_bound(v);
    largest = std::max(largest, std::isfinite(bound) ? bound : v.lpNorm<Eigen::Infinity>());
  }
  return largest;
}

double JoinedContacts::spin(const Vector& q, const Vector& v, const ContactSite& site) const {
  ContactSite own = site;
  for (const auto& source : sources_) {
    const auto count = static_cast<int>(source->laws().size());
    if (own.law < count) return source->spin(q, v, own);
    own.law -= count;
  }
  return 0;
}

double JoinedContacts::length() const {
  double length = 0;
  for (const auto& source : sources_) length = std::max(length, source->length());
  return length;
}

void JoinedContacts::append_breakpoints(BreakpointSearch& search) const {
  for (const auto& source : sources_) source->append_breakpoints(search);
}

void JoinedContacts::append_time_functions(std::vector<const StateFunction*>& functions) const {
  for (const auto& source : sources_) source->append_time_functions(functions);
}

std::unique_ptr<ConstraintSource> join(std::vector<std::unique_ptr<ConstraintSource>> sources, Index nv) {
  std::erase_if(sources, [](const auto& source) { return !source || source->elements().empty(); });
  if (sources.empty()) return nullptr;
  if (sources.size() == 1) return std::move(sources[0]);
  return std::make_unique<JoinedConstraints>(std::move(sources), nv);
}

std::unique_ptr<ContactSource> join(std::vector<std::unique_ptr<ContactSource>> sources) {
  std::erase_if(sources, [](const auto& source) { return !source || source->laws().empty(); });
  if (sources.empty()) return nullptr;
  if (sources.size() == 1) return std::move(sources[0]);
  return std::make_unique<JoinedContacts>(std::move(sources));
}

}  // namespace stickslip
