// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/robot/xml_document.hpp"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>

#include "stickslip/common/error.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::robot {

namespace {

XmlElement convert(const tinyxml2::XMLElement& given, const XmlSource& source) {
  XmlElement element{given.Name(), given.GetLineNum(), {}, {}};
  for (const tinyxml2::XMLAttribute* it = given.FirstAttribute(); it; it = it->Next()) {
    if (element.find(it->Name()))
      source.fail(it->GetLineNum(),
                  fmt::format("<{}> has the attribute {} twice", element.name, in_quotes(it->Name())));
    element.attributes.push_back({it->Name(), it->Value(), it->GetLineNum()});
  }
  for (const tinyxml2::XMLElement* it = given.FirstChildElement(); it; it = it->NextSiblingElement())
    element.children.push_back(convert(*it, source));
  return element;
}

}  // namespace

const XmlAttribute* XmlElement::find(std::string_view attribute) const {
  const auto it = std::find_if(attributes.begin(), attributes.end(),
                               [&](const XmlAttribute& one) { return one.name == attribute; });
  return it == attributes.end() ? nullptr : &*it;
}

const XmlElement* XmlElement::child(std::string_view element) const {
  const auto it =
      std::find_if(children.begin(), children.end(), [&](const XmlElement& one) { return one.name == element; });
  return it == children.end() ? nullptr : &*it;
}

XmlElement parse_xml(std::string_view text, const std::string& path_for_messages) {
  const XmlSource source(path_for_messages);
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    source.fail(1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(zero), '\n')),
                "a zero byte: this is not a text file");
  tinyxml2::XMLDocument document;
  if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
    std::string name = tinyxml2::XMLDocument::ErrorIDToName(document.ErrorID());
    std::replace(name.begin(), name.end(), '_', ' ');
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    if (name.starts_with("xml error ")) name.erase(0, 10);
    source.fail(std::max(1, document.ErrorLineNum()), "not valid XML: " + name);
  }
  if (!document.RootElement()) source.fail(1, "not valid XML: there is no element");
  return convert(*document.RootElement(), source);
}

bool looks_like_xml(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

void XmlSource::fail(int line, const std::string& message) const {
  throw InputError(fmt::format("{}:{}: {}", path_, line, message));
}

const XmlAttribute& XmlSource::require(const XmlElement& element, std::string_view attribute) const {
  if (const XmlAttribute* found = element.find(attribute)) return *found;
  fail(element.line, fmt::format("<{}> needs the attribute '{}'", element.name, attribute));
}

const XmlElement& XmlSource::require_child(const XmlElement& element, std::string_view child,
                                           const std::string& remedy) const {
  if (const XmlElement* found = element.child(child)) return *found;
  fail(element.line, fmt::format("<{}> needs <{}>; {}", element.name, child, remedy));
}

std::vector<double> XmlSource::numbers(const XmlAttribute& attribute, std::size_t count) const {
  std::string text = attribute.value;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  std::vector<std::string_view> words;
  split_words(text, words);
  std::vector<double> values;
  for (const std::string_view word : words) {
    const auto value = parse_finite_number(word);
    if (!value)
      fail(attribute.line,
           fmt::format("{} = {}: {} is not a finite number", attribute.name, in_quotes(text), in_quotes(word)));
    values.push_back(*value);
  }
  if (values.size() != count)
    fail(attribute.line, fmt::format("{} = {} has {} numbers; {} must stand here", attribute.name, in_quotes(text),
                                     values.size(), count));
  return values;
}

double XmlSource::number(const XmlAttribute& attribute) const { return numbers(attribute, 1)[0]; }

Eigen::Vector3d XmlSource::vector3(const XmlAttribute& attribute) const {
  const std::vector<double> values = numbers(attribute, 3);
  return {values[0], values[1], values[2]};
}

double XmlSource::number_or(const XmlElement& element, std::string_view attribute, double fallback) const {
  const XmlAttribute* found = element.find(attribute);
  return found ? number(*found) : fallback;
}

}  // namespace stickslip::robot
