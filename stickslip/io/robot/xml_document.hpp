// SPDX-License-Identifier: Apache-2.0
// An XML text as plain data: elements with attributes, children and the line they begin at. Texts between elements and
// comments are left out: robot files have none that matter.
//
// Parsing is by tinyxml2, which is kept out of every other file. It expands no entities of its own and nests at most
// 500 deep.
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip::robot {

struct XmlAttribute {
  std::string name, value;
  int line = 0;
};

struct XmlElement {
  std::string name;
  int line = 0;
  std::vector<XmlAttribute> attributes;
  std::vector<XmlElement> children;

  const XmlAttribute* find(std::string_view attribute) const;
  const XmlElement* child(std::string_view element) const;  ///< the first of that name
};

/// The root element. Throws InputError "path:LINE: not valid XML: ...".
XmlElement parse_xml(std::string_view text, const std::string& path_for_messages);

/// The text begins like XML, which no model file in TOML does.
bool looks_like_xml(std::string_view text);

/// Reading of one file: its path for messages, "path:LINE: ...".
class XmlSource {
 public:
  explicit XmlSource(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

  [[noreturn]] void fail(int line, const std::string& message) const;
  /// Fails naming the element where it is absent.
  const XmlAttribute& require(const XmlElement& element, std::string_view attribute) const;
  const XmlElement& require_child(const XmlElement& element, std::string_view child, const std::string& remedy) const;

  /// A finite number; numbers separated by blanks, as many as asked for.
  double number(const XmlAttribute& attribute) const;
  std::vector<double> numbers(const XmlAttribute& attribute, std::size_t count) const;
  Eigen::Vector3d vector3(const XmlAttribute& attribute) const;
  /// `fallback` where the attribute is absent.
  double number_or(const XmlElement& element, std::string_view attribute, double fallback) const;

 private:
  std::string path_;
};

}  // namespace stickslip::robot
