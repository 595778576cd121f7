// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "stickslip/boundary/segment_slopes.hpp"
#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

/// Step of differences of the parameters that depend on an unknown: they are sums and products of it.
constexpr double kParameterStep = 1e-3;

class CarriedDerivative final : public SegmentDerivative {
 public:
  bool evaluate(const Segment& segment, const SegmentPlanOf& plan, const Vector& unknowns,
                const std::optional<State>& start, const SampledRun& center, std::span<const Variation> variations,
                SegmentSlopes& slopes, std::string& message) const override {
    const SegmentPlan now = plan(unknowns);
    const bool carries = describe(segment.base().options().scheme).derivatives != Derivatives::none;
    std::vector<Index> numbers, directions, rest;
    for (std::size_t k = 0; k < variations.size(); ++k) {
      const bool of_case = variations[k].unknown >= 0 &&
                           !segment.unknowns()[static_cast<std::size_t>(variations[k].unknown)].is_end_time();
      const bool carried = carries && !now.reactions && (of_case || variations[k].unknown < 0);
      (!carried ? rest : of_case ? numbers : directions).push_back(static_cast<Index>(k));
    }
    const Index count = static_cast<Index>(variations.size());
    const Index states = 2 * segment.base().system().info().nv() + center.final.z.size();
    slopes.rows.assign(center.rows.size(), DenseMatrix::Zero(segment.layout().size(), count));
    slopes.final.setZero(states, count);
    try {
      SegmentInput input = segment.input(now, unknowns, start);
      input.model.set_options(input.options);
      if (start) input.model.set_initial(input.start);
      if (!numbers.empty()) {
        std::vector<std::string> names;
        for (const Index k : numbers) names.push_back(key(segment, variations[static_cast<std::size_t>(k)]));
        if (!carry(segment, now, input, Variations(input.model, names), numbers, slopes))
          rest.insert(rest.end(), numbers.begin(), numbers.end());
        else
          add_parameters(segment, unknowns, variations, numbers, slopes);
      }
      if (!directions.empty()) {
        // All directions of the start are carried; they are all asked for, in order.
        if (!carry(segment, now, input, Variations::of_state(input.model.system(), input.start), directions, slopes))
          rest.insert(rest.end(), directions.begin(), directions.end());
      }
    } catch (const InputError& error) {
      message = error.what();
      return false;
    }
    return rest.empty() || differences(segment, plan, unknowns, start, center, variations, rest, slopes, message);
  }

 private:
  static const std::string& key(const Segment& segment, const Variation& variation) {
    return segment.unknowns()[static_cast<std::size_t>(variation.unknown)].key;
  }

  /// False where a derivative does not exist, or none could be carried to the end.
  static bool carry(const Segment& segment, const SegmentPlan& plan, const SegmentInput& input,
                    const Variations& variations, const std::vector<Index>& columns, SegmentSlopes& slopes) {
    const Segment::RawRun raw = segment.simulate_rows(plan, input, &variations);
    const Simulation& run = raw.simulation;
    const bool usable = run.status == Status::success || run.status == Status::audit_failed;
    const Index n = static_cast<Index>(columns.size());
    if (!usable || run.final_sensitivity.cols() != n || run.final_sensitivity.rows() != slopes.final.rows() ||
        !run.final_sensitivity.allFinite())
      return false;
    const Index numbers = segment.layout().first_reaction() - segment.layout().first_position();
    for (std::size_t row = 0; row < plan.times.size(); ++row) {
      const DenseMatrix& S = Segment::row_at(raw.rows, plan.times[row]).sensitivity;
      if (S.cols() != n || S.rows() < numbers || !S.topRows(numbers).allFinite()) return false;
      for (Index k = 0; k < n; ++k)
        slopes.rows[row].col(columns[static_cast<std::size_t>(k)]).segment(segment.layout().first_position(), numbers) =
            S.col(k).head(numbers);
    }
    for (Index k = 0; k < n; ++k) slopes.final.col(columns[static_cast<std::size_t>(k)]) = run.final_sensitivity.col(k);
    return true;
  }

  /// Slots of the parameters and of the unknowns themselves.
  static void add_parameters(const Segment& segment, const Vector& unknowns, std::span<const Variation> variations,
                             const std::vector<Index>& columns, SegmentSlopes& slopes) {
    const ColumnLayout& layout = segment.layout();
    for (const Index k : columns) {
      const Variation& variation = variations[static_cast<std::size_t>(k)];
      const Vector slope = number_slopes(segment, unknowns, variation.unknown, variation.size);
      for (DenseMatrix& row : slopes.rows)
        row.col(k).tail(layout.size() - layout.first_parameter()) =
            slope.tail(layout.size() - layout.first_parameter());
    }
  }

  bool differences(const Segment& segment, const SegmentPlanOf& plan, const Vector& unknowns,
                   const std::optional<State>& start, const SampledRun& center, std::span<const Variation> variations,
                   std::vector<Index>& rest, SegmentSlopes& slopes, std::string& message) const {
    std::sort(rest.begin(), rest.end());
    std::vector<Variation> some;
    for (const Index k : rest) some.push_back(variations[static_cast<std::size_t>(k)]);
    SegmentSlopes found;
    if (!differences_->evaluate(segment, plan, unknowns, start, center, some, found, message)) return false;
    for (std::size_t k = 0; k < rest.size(); ++k) {
      const Index column = static_cast<Index>(k);
      for (std::size_t row = 0; row < slopes.rows.size(); ++row)
        slopes.rows[row].col(rest[k]) = found.rows[row].col(column);
      slopes.final.col(rest[k]) = found.final.col(column);
    }
    return true;
  }

  std::unique_ptr<SegmentDerivative> differences_ = make_difference_derivative();
};

}  // namespace

Vector number_slopes(const Segment& segment, const Vector& unknowns, Index j, double size) {
  const ColumnLayout& layout = segment.layout();
  OutputRow empty;
  empty.q = Vector::Zero(layout.first_velocity() - layout.first_position());
  empty.v = Vector::Zero(layout.first_reaction() - layout.first_velocity());
  empty.reaction = Vector::Zero((layout.first_parameter() - layout.first_reaction()) / 2);
  const double delta = kParameterStep * size;
  const auto at = [&](double amount) {
    Vector x = unknowns;
    x[j] += amount;
    return layout.values(empty, with_values(segment.base(), segment.unknowns(), x).parameters(), x);
  };
  const auto if_allowed = [&](double amount) -> std::optional<Vector> {
    const Unknown& unknown = segment.unknowns()[static_cast<std::size_t>(j)];
    if (unknowns[j] + amount < unknown.min || unknowns[j] + amount > unknown.max) return std::nullopt;
    try {
      return at(amount);
    } catch (const InputError&) {
      return std::nullopt;
    }
  };
  const std::optional<Vector> above = if_allowed(delta), below = if_allowed(-delta);
  if (above && below) return (*above - *below) / (2 * delta);
  // At a bound: to the side that is allowed, of the same order.
  const double way = below ? -delta : delta;
  return (4 * at(way) - 3 * at(0) - at(2 * way)) / (2 * way);
}

std::unique_ptr<SegmentDerivative> make_segment_derivative() { return std::make_unique<CarriedDerivative>(); }

}  // namespace stickslip
