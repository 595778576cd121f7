// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/law_set.hpp"

#include <cmath>

namespace stickslip {

namespace {

class NoContacts final : public ContactSource {
 public:
  explicit NoContacts(Index nv) : nv_(nv) {}
  const std::vector<ContactElement>& laws() const override { return none_; }
  void find(double, const Vector&, double, SystemWorkspace&, ContactPoints& found) const override {
    found.points.clear();
    found.Wt.resize(0, nv_);
    found.w.resize(0);
  }
  void bias(double, const Vector&, const Vector&, double, SystemWorkspace&, Vector& bias) const override {
    bias.resize(0);
  }
  bool constant_rows() const override { return true; }

 private:
  Index nv_;
  std::vector<ContactElement> none_;
};

class NoConstraints final : public ConstraintSource {
 public:
  explicit NoConstraints(Index nv) : nv_(nv) {}
  const std::vector<ConstraintElement>& elements() const override { return none_; }
  void evaluate(double, const Vector&, SystemWorkspace&, ConstraintRows& rows) const override {
    rows.A.resize(0, nv_);
    rows.rate.resize(0);
    rows.position.resize(0);
  }
  void bias(double, const Vector&, const Vector&, SystemWorkspace&, Vector& bias) const override { bias.resize(0); }
  void force_slopes(double, const Vector&, const Vector&, SystemWorkspace&, DenseMatrix& by_q) const override {
    by_q.setZero(nv_, nv_);
  }
  void velocity_slopes(double, const Vector&, const Vector&, SystemWorkspace&, DenseMatrix& by_q) const override {
    by_q.resize(0, nv_);
  }
  bool constant_rows() const override { return true; }

 private:
  Index nv_;
  std::vector<ConstraintElement> none_;
};

}  // namespace

void ContactSource::surface(double, const Vector&, SystemWorkspace&, const ContactPoints& found, Vector& w) const {
  w = found.w;
}

double ContactSource::speed_bound(const Vector&) const { return HUGE_VAL; }

LawSet::LawSet(Index nv, std::vector<FrictionElement> friction, std::unique_ptr<ContactSource> contacts,
               std::unique_ptr<ConstraintSource> constraints)
    : nv_(nv), friction_(std::move(friction)), contacts_(std::move(contacts)), constraints_(std::move(constraints)) {
  if (!contacts_) contacts_ = std::make_unique<NoContacts>(nv);
  if (!constraints_) constraints_ = std::make_unique<NoConstraints>(nv);
}

Index LawSet::reaction_count() const {
  auto count = static_cast<Index>(constraints().size());
  for (const ContactElement& contact : contacts()) count += contact.size();
  return count;
}

SparseMatrix LawSet::friction_rows() const {
  std::vector<Eigen::Triplet<double, int>> entries;
  int row = 0;
  for (const FrictionElement& element : friction_)
    for (const Direction& direction : element.directions) {
      for (const auto& [coordinate, coefficient] : direction)
        entries.emplace_back(row, static_cast<int>(coordinate), coefficient);
      ++row;
    }
  SparseMatrix Wt(row, nv_);
  Wt.setFromTriplets(entries.begin(), entries.end());
  return Wt;
}

void LawSet::append_breakpoints(BreakpointSearch& search) const {
  for (const FrictionElement& element : friction_) {
    element.limit.append_breakpoints(search);
    if (element.static_limit) element.static_limit->append_breakpoints(search);
    for (const StateFunction& w : element.surface_velocity) w.append_breakpoints(search);
  }
  contacts_->append_breakpoints(search);
  constraints_->append_breakpoints(search);
}

void LawSet::append_time_functions(std::vector<const StateFunction*>& functions) const {
  for (const FrictionElement& element : friction_) {
    functions.push_back(&element.limit);
    if (element.static_limit) functions.push_back(&*element.static_limit);
    for (const StateFunction& w : element.surface_velocity) functions.push_back(&w);
  }
  contacts_->append_time_functions(functions);
  constraints_->append_time_functions(functions);
}

}  // namespace stickslip
