#include "manifest.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "../core/formats.h"
#include "../core/layouts.h"
#include "../core/outputs.h"
#include "json.h"

namespace blockscope::cuda {

namespace {

// One object of the row; every key must be asked for, so that a misspelt one is an error and not a
// silence.
class Fields {
 public:
  Fields(const Json& json, std::string where) : where_(std::move(where)), object_(json.object()) {
    if (!object_) throw Error(ErrorKind::kUsage, where_ + " must be an object.");
  }

  const std::string& where() const { return where_; }

  std::string text(const char* key) {
    const Json* value = find(key);
    if (!value) fail(key, "is missing");
    return asText(*value, key);
  }
  std::string text(const char* key, const std::string& fallback) {
    const Json* value = find(key);
    return value ? asText(*value, key) : fallback;
  }
  bool flag(const char* key) {
    const Json* value = find(key);
    if (!value) return false;
    if (!value->boolean()) fail(key, "must be true or false");
    return *value->boolean();
  }
  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> found;
    for (const Json& value : elements(key)) found.push_back(asText(value, key));
    return found;
  }
  // An expression: a string, or a whole number.
  std::string expression(const char* key, const std::string& fallback) {
    const Json* value = find(key);
    return value ? asExpression(*value, key) : fallback;
  }
  Expressions expressions(const char* key, size_t least, size_t most) {
    Expressions found;
    for (const Json& value : elements(key)) found.push_back(asExpression(value, key));
    if (found.size() < least || found.size() > most)
      fail(key, "must have " + std::to_string(least) + " to " + std::to_string(most) + " elements");
    return found;
  }
  std::vector<Fields> objects(const char* key) {
    std::vector<Fields> found;
    for (const Json& value : elements(key))
      found.emplace_back(value, where_ + ", " + key + "[" + std::to_string(found.size()) + "]");
    return found;
  }
  std::map<std::string, int64_t> wholeNumbers(const char* key) {
    std::map<std::string, int64_t> found;
    const Json* value = find(key);
    if (!value) return found;
    if (!value->object()) fail(key, "must be an object of whole numbers");
    for (const auto& [name, number] : *value->object()) found[name] = asWhole(number, name.c_str());
    return found;
  }
  void ignore(const char* key) { known_.insert(key); }
  void refuseOthers() const {
    for (const auto& [key, value] : *object_)
      if (!known_.count(key))
        throw Error(ErrorKind::kUsage, where_ + ": the field \"" + key + "\" is not known.");
  }
  [[noreturn]] void fail(const std::string& key, const std::string& why) const {
    throw Error(ErrorKind::kUsage, where_ + ": \"" + key + "\" " + why + ".");
  }

 private:
  const Json* find(const char* key) {
    known_.insert(key);
    const auto found = object_->find(key);
    return found == object_->end() ? nullptr : &found->second;
  }
  const Json::Array& elements(const char* key) {
    static const Json::Array none;
    const Json* value = find(key);
    if (!value) return none;
    if (!value->array()) fail(key, "must be a list");
    return *value->array();
  }
  std::string asText(const Json& value, const char* key) const {
    if (!value.string()) fail(key, "must be text");
    return *value.string();
  }
  int64_t asWhole(const Json& value, const char* key) const {
    const double* number = value.number();
    if (!number || std::floor(*number) != *number || std::fabs(*number) > 9e15)
      fail(key, "must be a whole number");
    return static_cast<int64_t>(*number);
  }
  std::string asExpression(const Json& value, const char* key) const {
    if (value.string()) return *value.string();
    if (value.number()) return std::to_string(asWhole(value, key));
    fail(key, "must be an expression: text or a whole number");
  }

  std::string where_;
  const Json::Object* object_;
  std::set<std::string> known_;
};

FormatRow parseFormat(Fields& fields) {
  FormatRow row;
  row.format = fields.text("format");
  findBlockFormat(row.format);
  row.reason = fields.text("reason");
  row.architectures = fields.texts("architectures");
  const std::string level = fields.text("level");
  if (level == "native") row.level = CapabilityLevel::kNative;
  else if (level == "exact") row.level = CapabilityLevel::kExact;
  else if (level == "approximate") row.level = CapabilityLevel::kApproximate;
  else fields.fail("level", "must be native, exact or approximate");
  fields.refuseOthers();
  return row;
}

TensorMapRow parseTensorMap(Fields& fields) {
  TensorMapRow row;
  row.name = fields.text("name");
  row.of = fields.text("of");
  row.offset = fields.expression("offset", "0");
  row.element = fields.text("element");
  row.dims = fields.expressions("dims", 1, 5);
  row.strides = fields.expressions("strides", row.dims.size() - 1, row.dims.size() - 1);
  row.box = fields.expressions("box", row.dims.size(), row.dims.size());
  row.elementStrides = fields.expressions("elementStrides", 0, row.dims.size());
  row.swizzle = fields.text("swizzle", "none");
  row.l2Promotion = fields.text("l2Promotion", "none");
  fields.refuseOthers();
  return row;
}

LaunchRow parseLaunch(Fields& fields) {
  LaunchRow row;
  row.function = fields.text("function");
  row.grid = fields.expressions("grid", 1, 3);
  row.block = fields.expressions("block", 1, 3);
  row.cluster = fields.expressions("cluster", 0, 3);
  row.sharedBytes = fields.expression("sharedBytes", "0");
  row.when = fields.expression("when", "1");
  row.dependent = fields.flag("dependent");
  row.arguments = fields.texts("arguments");
  fields.refuseOthers();
  return row;
}

void parseComputation(Fields& fields, KernelRow& row) {
  row.scaleLayout = fields.text("scaleLayout", "linear");
  findLayout(row.scaleLayout);
  const std::string codes = fields.text("codes", "packed");
  if (codes != "packed" && codes != "bytes") fields.fail("codes", "must be packed or bytes");
  row.packedCodes = codes == "packed";
  for (const std::string& output : fields.texts("outputs"))
    row.outputs.push_back(findOutput(output));
  if (row.outputs.empty()) row.outputs = {OutputType::kF16, OutputType::kBf16, OutputType::kF32};
  for (Fields& format : fields.objects("formats")) row.formats.push_back(parseFormat(format));
  for (Fields& requirement : fields.objects("requires")) {
    row.requirements.push_back({requirement.text("that"), requirement.text("message")});
    requirement.refuseOthers();
  }
  for (Fields& buffer : fields.objects("workspace")) {
    row.workspace.push_back(
        {buffer.text("name"), buffer.expression("bytes", "0"), buffer.flag("zeroed")});
    buffer.refuseOthers();
  }
  for (Fields& map : fields.objects("tensorMaps")) row.tensorMaps.push_back(parseTensorMap(map));
  for (Fields& launch : fields.objects("launches")) row.launches.push_back(parseLaunch(launch));
  if (row.formats.empty()) fields.fail("formats", "must name at least one format");
  if (row.launches.empty()) fields.fail("launches", "must have at least one launch");
}

struct Architecture {
  int major, minor;
  char suffix;  // 'a', 'f', '+' or 0
};

std::optional<Architecture> parseArchitecture(const std::string& name) {
  if (name.rfind("sm_", 0) != 0) return std::nullopt;
  int number = 0;
  const char* last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + 3, last, number);
  if (error != std::errc() || number < 10 || last - end > 1) return std::nullopt;
  const char suffix = end == last ? '\0' : *end;
  if (suffix != '\0' && suffix != 'a' && suffix != 'f' && suffix != '+') return std::nullopt;
  return Architecture{number / 10, number % 10, suffix};
}

bool fits(const Architecture& target, int major, int minor) {
  if (target.suffix == 'a') return target.major == major && target.minor == minor;
  if (target.suffix == '+') return major * 10 + minor >= target.major * 10 + target.minor;
  return target.major == major && minor >= target.minor;
}

}  // namespace

const FormatRow* KernelRow::findFormat(const std::string& format) const {
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const FormatRow& r) { return r.format == format; });
  return found == formats.end() ? nullptr : &*found;
}

KernelRow parseKernelRow(const KernelSource& source) {
  const std::string where = "Kernel " + source.id;
  try {
    const Json json = Json::parse(source.manifestJson);
    Fields fields(json, where);
    KernelRow row;
    row.id = source.id;
    row.provider = source.provider;
    row.summary = source.summary;
    row.file = source.file;
    for (const char* key : {"id", "provider", "summary", "file"}) fields.ignore(key);
    const std::string role = fields.text("role", "kernel");
    if (role != "kernel" && role != "support") fields.fail("role", "must be support, or left out");
    row.support = role == "support";
    row.architectures = fields.texts("architectures");
    row.options = fields.texts("options");
    row.constants = fields.wholeNumbers("constants");
    if (!row.support) parseComputation(fields, row);
    fields.refuseOthers();
    if (row.architectures.empty())
      fields.fail("architectures", "must name at least one target, such as sm_80+");
    for (const std::string& name : row.architectures)
      if (!parseArchitecture(name))
        fields.fail("architectures",
                    "has \"" + name + "\", which is no target such as sm_90a or sm_80+");
    return row;
  } catch (const Error& error) {
    const std::string message = error.what();
    throw Error(ErrorKind::kUsage, message.rfind(where, 0) == 0 ? message : where + ": " + message);
  }
}

std::optional<std::string> chooseTarget(const std::vector<std::string>& architectures, int major,
                                        int minor) {
  for (const std::string& name : architectures) {
    const auto target = parseArchitecture(name);
    if (!target || !fits(*target, major, minor)) continue;
    return target->suffix == '+' ? "sm_" + std::to_string(major) + std::to_string(minor) : name;
  }
  return std::nullopt;
}

}  // namespace blockscope::cuda
