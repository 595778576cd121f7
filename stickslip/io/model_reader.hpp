// SPDX-License-Identifier: Apache-2.0
// Inside of read_model(): fields of a model file with their place and type, and the messages about them.
//
// Every failure is an InputError "path:LINE:COLUMN: key 'a.b': ..." or, for a value given on the command line,
// "--set a.b=VALUE: ...".
#pragma once

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stickslip/common/error.hpp"
#include "stickslip/common/vector.hpp"
#include "stickslip/io/drawing.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/toml_document.hpp"
#include "stickslip/model/equation_model.hpp"
#include "stickslip/model/expression.hpp"
#include "stickslip/model/function_shape.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "stickslip/model/reduction.hpp"
#include "stickslip/model/rigid_bodies.hpp"
#include "stickslip/motion/constrained_motion.hpp"

namespace stickslip::model_detail {

/// What matrices.reduce made last, for models that differ in other numbers (branches, fits).
struct KeptReduction {
  SparseMatrix M, B, K;
  std::vector<Index> kept;
  Index modes;
  Reduction reduction;
};

struct ModelContext {
  std::string path;
  std::vector<std::string> settings;       ///< KEY=VALUE
  SymbolTable parameters;                  ///< [parameters] as constants
  SymbolTable indexed;                     ///< the same, and the variable i (slot 0); both know [tables]
  std::span<const FileText> stored;        ///< files of an earlier run, in place of those on the disk
  std::vector<FileText>* files = nullptr;  ///< where every file that is read goes down
  mutable std::shared_ptr<const KeptReduction> reduction;  ///< in and out
  const ProgramFunctions* functions = nullptr;             ///< null: none
  std::vector<std::string> robots;                         ///< paths of the robot files taken in (TomlPlace::file)
  std::vector<std::string> notes;                          ///< what of them is not used, and what was chosen for them

  [[noreturn]] void fail(const TomlPlace& place, std::string_view key, const std::string& message) const;
  /// What such a message begins with.
  std::string where(const TomlPlace& place, std::string_view key) const;
  /// A path given in the model, seen from the folder of the model file.
  std::string resolve(const std::string& relative) const;
  /// The text of a file that the model names, at a path from resolve(). All files of a model are read here.
  std::string read_file(const std::string& name) const;
  /// Of a file that is kept in another form than that on the disk: the stored text, if there is one.
  const std::string* stored_file(const std::string& name) const;
  void keep_file(const std::string& name, std::string text) const;
};

/// low <= x <= high, or < where open.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false, open_high = false;
  bool holds(double x) const { return (open_low ? x > low : x >= low) && (open_high ? x < high : x <= high); }
  std::string text() const;  ///< "> 0", "in [0, 1)", ...
};
inline constexpr Range kAnyNumber{};
inline constexpr Range kPositive{.low = 0, .open_low = true};
inline constexpr Range kNotNegative{.low = 0};

/// name_hint(), for names of any length (the search is quadratic in it).
std::string hint(std::string_view misspelt, std::span<const std::string> known);

/// One value of the file. Lightweight; the node belongs to the document.
struct Field {
  const ModelContext* context;
  const TomlNode* node;
  std::string key;  ///< from the root, as in "friction.shoe.limit" or "matrices.mass[0][1]"

  [[noreturn]] void fail(const std::string& message) const { context->fail(node->place, key, message); }
  [[noreturn]] void fail_type(const std::string& expected) const;

  const std::string& text(const char* what) const;
  bool boolean() const;
  /// A finite number or an expression of [parameters].
  double number(const Range& range = kAnyNumber) const;
  /// The same, without a fraction.
  long long integer(long long low, long long high) const;
  /// A list; `what` says of what.
  const TomlArray& list(const char* what) const;
  Field item(std::size_t k) const;
  /// Runs an action whose InputErrors are about this value.
  template <class Action>
  auto about(Action&& action) const {
    try {
      return action();
    } catch (const InputError& error) {
      fail(error.what());
    }
  }
};

/// A table whose keys are all known: anything else is refused when it is made.
class TableReader {
 public:
  /// `unavailable`: words that later versions know, each with what to do instead.
  using Unavailable = std::vector<std::pair<std::string, std::string>>;
  TableReader(const Field& field, std::vector<std::string> known, const Unavailable& unavailable = {});

  bool has(std::string_view key) const { return find_key(*table_, key) != nullptr; }
  std::optional<Field> find(std::string_view key) const;
  /// Fails with `remedy` if it is absent.
  Field require(std::string_view key, const std::string& remedy) const;
  const Field& field() const { return field_; }

  // Each leaves `value` as it is if the key is absent.
  void number(std::string_view key, double& value, const Range& range) const;
  void integer(std::string_view key, int& value, int low) const;
  void boolean(std::string_view key, bool& value) const;
  /// `use` may throw InputError for a word it does not know.
  void word(std::string_view key, const std::function<void(std::string_view)>& use) const;

 private:
  Field field_;
  const TomlTable* table_;
};

/// { function = "name" }: a function of the program, with what is known of it (CallableFacts): time, positions,
/// velocities, degree, breakpoints.
StateFunction read_program_function(const Field& field, const SymbolTable& symbols);

/// A number, an expression in the symbols of state_symbols(), { table = "file.csv" } or { function = "name" }. `index`
/// is put in for i; without it i is refused.
StateFunction read_function(const Field& field, const SymbolTable& symbols, std::optional<Index> index);
/// A text alone.
Expression read_expression(const Field& field, const SymbolTable& symbols);
/// The same as read_function() for all coordinates at once: i stays a variable.
StateFunction read_common_function(const Field& field, const SymbolTable& symbols);

/// What functions of the model may name: the table of state_symbols() and the coordinates it was made of.
struct StateSymbols {
  std::vector<std::string> coordinates;
  SymbolTable table;
};
StateSymbols symbols_of(const ModelContext& context, const std::vector<std::string>& coordinates);
/// read_function() without the index, and refused if it depends on more than `allowed`. `what`: "the mass", ...
StateFunction read_function_of(const Field& field, const StateSymbols& symbols, Arguments allowed, const char* what);

/// One value per index 0..n-1: a list, or an expression with i, or a number. Parameters only.
Vector read_vector(const Field& field, Index n, const char* what);

/// The names in an expression, functions and words included, each as often as it occurs.
std::vector<std::string> names_in(std::string_view expression);
bool mentions(std::string_view expression, std::string_view name);
/// A letter or _, then letters, digits and _.
bool is_identifier(std::string_view name);

/// Names become columns of tables and parts of --set keys.
std::string read_law_name(const Field& field);
/// An element of a list of tables with its name, or <word><number> if it has none; its key is "<word>.<name>".
struct NamedField {
  Field field;
  std::string name;
};
/// Fails if the name is in `taken`, and adds it there.
NamedField name_element(const Field& list, std::size_t k, const char* word, std::size_t number,
                        std::set<std::string>& taken);

/// Names of coordinates, none of them a parameter or a velocity.
std::vector<std::string> read_coordinates(const Field& field);

/// Adds the functions of [tables] to the symbols of a function.
void add_tables(const ModelContext& context, SymbolTable& symbols);

// The sections of the file.
/// One line about each for stickslip check.
std::vector<std::string> read_tables(const Field& field, ModelContext& context);
/// As functions of time, u(t), among the tables of the context.
std::vector<ModelInput> read_inputs(const Field& field, ModelContext& context);
std::vector<std::pair<std::string, double>> read_parameters(const Field& field, ModelContext& context);
struct MatricesSection {
  MatrixModel model;  ///< without title and laws
  StateSymbols symbols;
  Field inertia;        ///< what the mass matrix comes from
  std::string reduced;  ///< what a reduction did; empty: there is none
};
/// matrices.reduce: matrices, coordinates, forces and symbols of the reduced model. Returns what it did.
std::string reduce_matrices(const Field& field, const std::optional<Field>& force, MatrixModel& model,
                            StateSymbols& symbols);
/// { coordinate = value, .. }
std::vector<std::pair<Field, Index>> named_entries(const Field& field, const std::vector<std::string>& coordinates);
MatricesSection read_matrices(const Field& field);
struct EquationsSection {
  EquationModel model;  ///< without title and laws
  StateSymbols symbols;
  Field inertia;
};
EquationsSection read_equations(const Field& field);
/// What `mu` of a [[friction]] table multiplies, as a text in the symbols; fails where there is no bearing.
using BearingLoad = std::function<std::string(const TableReader&)>;
/// `load`: null where there are no hinges.
std::vector<FrictionElement> read_friction(const Field& field, const std::vector<std::string>& coordinates,
                                           const SymbolTable& symbols, const BearingLoad& load = nullptr);
/// What limits may name beside the state: r_<contact>_n, r_<contact>_t1, ... and r_<constraint>, in the order of
/// LawSet::reaction_count().
void add_reactions(const TableReader& root, SymbolTable& symbols);
/// `names`: of the laws read before; those of the contacts are added.
std::vector<ExpressionContact> read_contacts(const Field& field, const StateSymbols& symbols,
                                             std::set<std::string>& names);
/// Likewise.
std::vector<ExpressionConstraint> read_constraints(const Field& field, const StateSymbols& symbols,
                                                   std::set<std::string>& names);
/// initial.consistent
StartPolicy read_start_policy(const Field& field);
using ReadEntry = std::function<StateFunction(const Field&)>;
/// mu, mu_static, restitution, cone, facets, polygon and compliance of a contact; law.tangents is known. `entry` reads
/// an entry of a compliance matrix.
void read_contact_law(const TableReader& table, ContactElement& law, const ReadEntry& entry);
ContactCompliance read_compliance(const Field& field, int tangents, const ReadEntry& entry);
void read_polygon(const Field& field, ContactElement& law);
/// The section of a law with two tangents, `disk`, `polygon` or `box` as the text says; `key`: "cone" or "set".
SetKind read_section(const Field& field, const char* key, SetKind disk, SetKind polygon, SetKind box);
/// Of a polygon; refused where the section, of that key, is another.
int read_facets(const Field& field, const char* key, bool polygon);
/// [[word]] tables: read(field, name) of each, under names of its own. `several`: what there can be several of.
template <class Read>
auto read_named(const Field& field, const char* word, const char* several, std::set<std::string>& names,
                const Read& read) {
  if (field.node->table())
    field.fail(fmt::format("write [[{}]] with two brackets: there can be several{}", word, several));
  const std::size_t count = field.list(fmt::format("[[{}]] tables", word).c_str()).size();
  std::vector<decltype(read(field, std::string()))> elements;
  for (std::size_t k = 0; k < count; ++k) {
    const NamedField element = name_element(field, k, word, k + 1, names);
    elements.push_back(read(element.field, element.name));
  }
  return elements;
}
/// [compliance], over all contacts.
CoupledCompliance read_coupled_compliance(const Field& field, const std::vector<ExpressionContact>& contacts,
                                          const StateSymbols& symbols);
/// initial.deformation: tangential, contact by contact.
Vector read_deformation(const Field& field, const std::vector<ContactElement>& contacts);
BodyModel read_bodies(const TableReader& root);
/// body.flexible
std::shared_ptr<const FlexibleBody> read_flexible(const Field& field);
/// The file has hinges, loops or laws on coordinates of bodies.
bool has_tree(const TableReader& root);
/// All of these, into a model whose bodies, shapes and contacts are known.
void read_tree(const TableReader& root, BodyModel& model);
/// Three numbers; a quaternion [w, x, y, z] of any length but 0.
Eigen::Vector3d read_vector3(const Field& field);
Eigen::Quaterniond read_rotation(const Field& field);
std::vector<Drawing> read_drawings(const Field& field, const StateSymbols& symbols);
SimulationOptions read_run(const Field& field);
PeriodicSection read_periodic(const Field& field, const std::vector<std::string>& coordinates);
/// Both know the system, the parameters and the run of the model by then.
ShootSection read_shoot(const Field& field, const TableReader& root, const ModelFile& model);
FitSection read_fit(const Field& field, const TableReader& root, const ModelFile& model);
/// `unknowns` of the two. `places`: ShootSection::unknown_places.
std::vector<Unknown> read_unknowns(const Field& field, const TableReader& root, const ModelFile& model,
                                   std::vector<std::string>& places);

/// Coordinates that are angles: those that `angles` names, or else those that stand alone, or as a term of a sum, in a
/// sine, cosine or tangent of the model.
std::vector<std::string> read_angles(const Field& root, const Field& section,
                                     const std::vector<std::string>& coordinates);

/// Refuses a start at which a contact is closed by more than the scheme corrects.
void require_open_start(const TableReader& root, const ModelFile& model);

/// urdf, mjcf: puts what the robot files hold into the document, before the settings.
void take_in_robots(TomlTable& root, ModelContext& context);
/// A joint that follows another one starts where that puts it, unless its start is given. After the settings.
void start_followers(TomlTable& root);
/// The document of a text that is a robot file itself, and what was chosen for it; none for others.
std::optional<TomlTable> robot_document(std::string_view text, const std::string& path,
                                        std::vector<std::string>& notes);

/// Applies --set KEY=VALUE to the document.
void apply_settings(TomlTable& root, const ModelContext& context);
/// The value at a dotted path as in KEY. Throws InputError with the nearest name that there is.
const TomlNode& find_value(const TomlTable& root, const std::string& key);

}  // namespace stickslip::model_detail
