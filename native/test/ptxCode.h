// PTX as text, read into instructions: as much of it as the kernels of test/fixtures/kernels have.
// PTX ISA 9.0, "Instruction Set".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace ptx {

struct Operand {
  enum Kind { kRegister, kImmediate, kSpecial, kAddress } kind = kImmediate;
  int index = 0;      // of the register, or of an address' base; -1: none
  int64_t value = 0;  // immediate, or an address' offset
  std::string name;   // special
};

// Arithmetic of one lane.
enum class Arithmetic {
  kNone,
  kMov,
  kAdd,
  kNeg,
  kMul,
  kMad,
  kOr,
  kAnd,
  kXor,
  kShl,
  kShr,
  kSelp,
  kCvt,
  kSetp,
  kBfe,
  kPrmt
};
inline const std::map<std::string, Arithmetic> kArithmetic = {
    {"mov", Arithmetic::kMov},   {"add", Arithmetic::kAdd},   {"neg", Arithmetic::kNeg},
    {"mul", Arithmetic::kMul},   {"mad", Arithmetic::kMad},   {"or", Arithmetic::kOr},
    {"and", Arithmetic::kAnd},   {"xor", Arithmetic::kXor},   {"shl", Arithmetic::kShl},
    {"shr", Arithmetic::kShr},   {"selp", Arithmetic::kSelp}, {"cvt", Arithmetic::kCvt},
    {"setp", Arithmetic::kSetp}, {"bfe", Arithmetic::kBfe},   {"prmt", Arithmetic::kPrmt},
};

struct Instruction {
  std::string text, name, type;  // mma, b32, ...
  Arithmetic arithmetic = Arithmetic::kNone;
  int bytes = 0;  // of the type
  std::vector<std::string> parts;
  std::vector<Operand> operands;
  int guard = -1;  // predicate register
  bool guardIs = true;
  size_t target = 0;
};

// A kernel's instructions, its labels resolved, its registers numbered.
class Code {
 public:
  explicit Code(const std::string& text) { parse(text); }

  int threads() const { return threads_; }
  int clusterCtas() const { return clusterCtas_; }
  size_t registers() const { return numbers_.size(); }
  const std::vector<Instruction>& instructions() const { return code_; }

  // Of a type: 4 of b32.
  static int bytesOf(const std::string& type) { return std::stoi(type.substr(1)) / 8; }

 private:
  void parse(const std::string& text) {
    std::stringstream lines(text);
    std::map<std::string, size_t> labels;
    std::vector<std::pair<size_t, std::string>> jumps;
    for (std::string line; std::getline(lines, line);) {
      const size_t start = line.find_first_not_of(" \t");
      if (start == std::string::npos) continue;
      line = line.substr(start);
      if (line.rfind(".reqntid", 0) == 0) threads_ = std::stoi(line.substr(9));
      const std::string ofCluster = ".reqnctapercluster ";
      if (line.rfind(ofCluster, 0) == 0) clusterCtas_ = std::stoi(line.substr(ofCluster.size()));
      if (line.back() == ':') line.pop_back(), labels[line] = code_.size();
      if (std::string("./{}$").find(line[0]) != std::string::npos || line.back() != ';') continue;
      line.pop_back();
      const auto jump = read(line);
      if (jump) jumps.push_back({code_.size() - 1, *jump});
    }
    for (const auto& [from, label] : jumps) code_[from].target = labels.at(label);
  }

  // The label of a jump.
  std::optional<std::string> read(std::string line) {
    Instruction instruction;
    instruction.text = line;
    if (line[0] == '@') {
      instruction.guardIs = line[1] != '!';
      const size_t space = line.find(' ');
      const size_t first = instruction.guardIs ? 1 : 2;
      instruction.guard = registerNumber(line.substr(first, space - first));
      line = line.substr(line.find_first_not_of(" \t", space));
    }
    const size_t space = line.find_first_of(" \t");
    std::stringstream opcode(line.substr(0, space));
    for (std::string part; std::getline(opcode, part, '.');) instruction.parts.push_back(part);
    instruction.name = instruction.parts.front(), instruction.type = instruction.parts.back();
    const auto arithmetic = kArithmetic.find(instruction.name);
    if (arithmetic != kArithmetic.end()) instruction.arithmetic = arithmetic->second;
    if (instruction.type.find_first_of("0123456789") == 1)
      instruction.bytes = bytesOf(instruction.type);
    if (instruction.type == "pred") instruction.bytes = 1;
    std::string rest = space == std::string::npos ? "" : line.substr(space);
    const bool isJump = instruction.name == "bra";
    if (!isJump) {
      for (char& one : rest)
        if (one == '{' || one == '}' || one == ',' || one == '|') one = ' ';
      readOperands(rest, instruction);
    }
    code_.push_back(instruction);
    if (!isJump) return std::nullopt;
    return rest.substr(rest.find_first_not_of(" \t"));
  }

  void readOperands(const std::string& text, Instruction& into) {
    std::stringstream words(text);
    for (std::string word; words >> word;) {
      Operand operand;
      if (word[0] == '[') {
        std::string inside = word.substr(1);
        while (inside.empty() || inside.back() != ']') {
          words >> word;
          inside += word;
        }
        inside.pop_back();
        const size_t plus = inside.find('+');
        operand.kind = Operand::kAddress;
        if (inside.rfind("k_param_", 0) == 0)
          operand.index = -1, operand.value = std::stoi(inside.substr(8));
        else operand.index = registerNumber(inside.substr(0, plus));
        if (plus != std::string::npos) operand.value = std::stoll(inside.substr(plus + 1));
      } else if (word.find('.') != std::string::npos || word == "%cluster_ctarank") {
        operand.kind = Operand::kSpecial, operand.name = word;
      } else if (word[0] == '%' || word == "complete") {
        operand.kind = Operand::kRegister, operand.index = registerNumber(word);
      } else if (word != "global_smem") {
        operand.value = std::stoll(word, nullptr, 0);
      }  // the array in shared memory begins at 0
      into.operands.push_back(operand);
    }
  }

  int registerNumber(const std::string& name) {
    return numbers_.emplace(name, static_cast<int>(numbers_.size())).first->second;
  }

  int threads_ = 0, clusterCtas_ = 1;
  std::vector<Instruction> code_;
  std::map<std::string, int> numbers_;
};

}  // namespace ptx
