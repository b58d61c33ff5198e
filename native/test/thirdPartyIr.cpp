// Kernels that Triton's compiler made for gfx950, as LLVM IR, compiled for the CPU: their lanes are
// fibers, their matrix instruction is the emulation. Right products, and wrong ones where the
// emulation would read another lane's scales or another block's. Needs clang 22, which reads such
// IR. With "all" as argument every kernel, else one of each instruction.
#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <regex>

#include "../../resources/kernels/hip/common/emulation.h"
#include "check.h"
#include "fiberBlock.h"
#include "scaledMatrix.h"

namespace {

using WaveBlock = fibers::Block<64, 2 * mfma::kMostWords + 2>;

// What the translated kernel that runs calls.
WaveBlock* running = nullptr;
int blockAt[2];

// An instruction's registers as all lanes show them; mistakes change what is read of them.
struct Wave {
  WaveBlock::ShownByAll shown;
  mfma::Form form;
  mfma::Selectors selectors;
  u32 a(int lane, int word) const { return shown[lane][word]; }
  u32 b(int lane, int word) const { return shown[lane][8 + word]; }
  u32 scaleA(int lane) const { return shown[lane][16]; }
  u32 scaleB(int lane) const { return shown[lane][17]; }
};
using Mistake = std::function<void(Wave&)>;
Mistake mistake;

// cbsz and blgp to the numbers of formats here.
constexpr int kFormats[] = {3, 4, 1, 2, 0};

}  // namespace

extern "C" {

alignas(128) unsigned char global_smem[64 * 1024];

int gfxWorkitemId() { return running->current(); }
int gfxWorkgroupIdX() { return blockAt[0]; }
int gfxWorkgroupIdY() { return blockAt[1]; }
int gfxReadFirstLane(int value) {
  return static_cast<int>(running->exchange(-1, {static_cast<u32>(value)})[0][0]);
}
void gfxBarrier() { running->sync(); }

// v_mfma_scale_f32_*_f8f6f4: `sums` is 4 or 16, d holds C and then D.
void gfxMultiplyAdd(const u32* a, int wordsA, const u32* b, int wordsB, float* d, int sums,
                    int cbsz, int blgp, int byteA, u32 scaleA, int byteB, u32 scaleB) {
  WaveBlock::Shown mine = {};
  std::copy_n(a, wordsA, mine.begin());
  std::copy_n(b, wordsB, mine.begin() + mfma::kMostWords);
  mine[16] = scaleA, mine[17] = scaleB;
  Wave wave = {running->exchange(byteA * 4 + byteB, mine),
               {kFormats[cbsz], kFormats[blgp], sums == 4 ? 16 : 32},
               {byteA, byteB}};
  if (mistake) mistake(wave);
  mfma::multiplyAdd(wave.form, running->current() % 64, wave, wave.selectors, d);
}

}  // extern "C"

namespace {

std::string outputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, count);
  if (pclose(pipe) != 0) throw std::runtime_error(command + " failed");
  return text;
}

std::string replaced(std::string text, const char* pattern, const char* by) {
  return std::regex_replace(text, std::regex(pattern), by);
}

// A function of the module that hands an instruction's vectors on by address.
std::string instructionOf(const std::string& name, int edge, int wordsA, int wordsB) {
  const std::string sums = std::to_string(edge * edge / 64), a = std::to_string(wordsA),
                    b = std::to_string(wordsB);
  const std::string typeD = "<" + sums + " x float>", typeA = "<" + a + " x i32>",
                    typeB = "<" + b + " x i32>";
  return "define internal " + typeD + " @" + name + "(" + typeA + " %a, " + typeB + " %b, " +
         typeD +
         " %c, i32 %cbsz, i32 %blgp, i32 %byteA, i32 %scaleA, i32 %byteB, i32 %scaleB) {\n" +
         "  %pa = alloca " + typeA + "\n  %pb = alloca " + typeB + "\n  %pd = alloca " + typeD +
         "\n  store " + typeA + " %a, ptr %pa\n  store " + typeB + " %b, ptr %pb\n  store " +
         typeD + " %c, ptr %pd\n  call void @gfxMultiplyAdd(ptr %pa, i32 " + a + ", ptr %pb, i32 " +
         b + ", ptr %pd, i32 " + sums +
         ", i32 %cbsz, i32 %blgp, i32 %byteA, i32 %scaleA, i32 %byteB, i32 %scaleB)\n" +
         "  %d = load " + typeD + ", ptr %pd\n  ret " + typeD + " %d\n}\n";
}

// The module for the machine that this runs on.
std::string retargeted(std::string text) {
  text = replaced(text, "target (datalayout|triple) = [^\n]*\n", "");
  text = replaced(text, "attributes #[^\n]*\n", "");
  text = replaced(text, " addrspace\\(\\d+\\)| inreg| immarg| syncscope\\(\"workgroup\"\\)", "");
  text = replaced(text, "amdgpu_kernel ", "");
  text = replaced(text, " #\\d+", "");
  for (const auto& [intrinsic, name] : {std::pair("workitem.id.x", "gfxWorkitemId"),
                                        {"workgroup.id.x", "gfxWorkgroupIdX"},
                                        {"workgroup.id.y", "gfxWorkgroupIdY"},
                                        {"readfirstlane.i32", "gfxReadFirstLane"},
                                        {"s.barrier", "gfxBarrier"}})
    text = replaced(text, (std::string("llvm\\.amdgcn\\.") + intrinsic).c_str(), name);
  const std::regex instruction(
      "declare [^\n]*@llvm\\.amdgcn\\.mfma\\.scale\\.f32\\.(16|32)x\\S*f8f6f4\\.v(\\d)i32\\.v(\\d)"
      "i32\\([^\n]*\n");
  std::smatch found;
  if (!std::regex_search(text, found, instruction))
    throw std::runtime_error("the module has no scaled MFMA");
  const std::string definition = instructionOf("gfxInstruction", std::stoi(found[1]),
                                               std::stoi(found[2]), std::stoi(found[3]));
  text = std::regex_replace(text, instruction, "");
  text = replaced(text, "llvm\\.amdgcn\\.mfma\\.scale[\\w.]*", "gfxInstruction");
  return text + definition +
         "declare void @gfxMultiplyAdd(ptr, i32, ptr, i32, ptr, i32, i32, i32, i32, i32, i32, i32)"
         "\n";
}

// A kernel's parameters as Triton orders them: operands, C, K, strides, two null pointers.
using Function = void (*)(const void*, const void*, const void*, const void*, float*, int, int, int,
                          int, int, int, void*, void*);

class Kernel {
 public:
  explicit Kernel(const std::string& file) {
    const std::string path = (folder_ / file).string();
    std::FILE* module = std::fopen((path + ".ll").c_str(), "w");
    const std::string text =
        retargeted(outputOf("gzip -dc ../../test/fixtures/kernels/" + file + ".ll.gz"));
    std::fwrite(text.data(), 1, text.size(), module);
    std::fclose(module);
    outputOf("clang-22 -O1 -w -fPIC -shared -o " + path + ".so -x ir " + path + ".ll");
    library_ = dlopen((path + ".so").c_str(), RTLD_NOW);
    if (!library_) throw std::runtime_error(dlerror());
    function_ = reinterpret_cast<Function>(dlsym(library_, "k"));
  }
  ~Kernel() {
    if (library_) dlclose(library_);
    std::filesystem::remove_all(folder_);
  }
  Kernel(const Kernel&) = delete;
  Function function() const { return function_; }

 private:
  static std::filesystem::path newFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "blockscope-ir-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("there is no folder for temporary files");
    return name;
  }
  std::filesystem::path folder_ = newFolder();
  void* library_ = nullptr;
  Function function_ = nullptr;
};

// One kernel on 2 x 2 of its tiles of 128 x 128.
class Product {
 public:
  Product(const std::string& file, int formatA, int formatB)
      : kernel_(file),
        a_({formatA, 5, 32}, kM, kK, 0, "linear"),
        b_({formatB, 5, 32}, kM, kK, 2, "linear") {
    for (int i = 0; i < kM; i++)
      for (int j = 0; j < kM; j++) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < kK; k++) {
          const double product = valuesA_[i * kK + k] * valuesB_[j * kK + k];
          sum += product, magnitude += std::fabs(product);
        }
        sums_.push_back(sum), allowed_.push_back(magnitude * (kK / 64) * 0x1p-24);
      }
  }

  // Elements of the first `tiles` x `tiles` tiles that are off by more than rounding explains.
  int wrong(int tiles, const Mistake& with = {}) {
    std::vector<float> c(kM * kM);
    mistake = with;
    for (blockAt[1] = 0; blockAt[1] < tiles; blockAt[1]++)
      for (blockAt[0] = 0; blockAt[0] < tiles; blockAt[0]++) {
        WaveBlock block(256);
        running = &block;
        const auto stride = [](const ScaledMatrix& of) {
          return static_cast<int>(of.packed.size()) / kM;
        };
        block.run([&] {
          kernel_.function()(a_.packed.data(), a_.scales.data(), b_.packed.data(), b_.scales.data(),
                             c.data(), kK, stride(a_), stride(b_), kK / 32, kK / 32, kM, nullptr,
                             nullptr);
        });
      }
    int count = 0;
    for (int i = 0; i < tiles * kTile; i++)
      for (int j = 0; j < tiles * kTile; j++)
        count += !(std::fabs(c[i * kM + j] - sums_[i * kM + j]) <= allowed_[i * kM + j]);
    return count;
  }

  static constexpr int kTile = 128;

 private:
  static constexpr int kM = 2 * kTile, kK = 256;
  Kernel kernel_;
  ScaledMatrix a_, b_;
  std::vector<double> valuesA_ = valuesOf(a_), valuesB_ = valuesOf(b_), sums_, allowed_;

  static std::vector<double> valuesOf(const ScaledMatrix& of) {
    std::vector<double> values;
    for (int row = 0; row < of.rows; row++)
      for (int k = 0; k < of.k; k++) values.push_back(of.value(row, k));
    return values;
  }
};

void swapLanes(Wave& wave, int scale) {
  for (int lane = 0; lane < 64; lane += 2)
    std::swap(wave.shown[lane][scale], wave.shown[lane + 1][scale]);
}

// The first operand of 8 bits as if a lane had 32 neighbours along K.
void asOneRun(Wave& wave) {
  const auto before = wave.shown;
  const int edge = wave.form.edge, groups = wave.form.groups();
  const int first = mfma::bitsOf(wave.form.a) == 8 ? 0 : 8;
  for (int lane = 0; lane < 64; lane++)
    for (int word = 0; word < 8; word++) {
      const int run = word / 4 * groups + lane / edge;
      wave.shown[lane][first + word] =
          before[run / 2 * edge + lane % edge][first + run % 2 * 4 + word % 4];
    }
}

void check(const std::string& pair, int edge, int formatA, int formatB) {
  const std::string file = "gfx950_" + pair + "_mfma" + std::to_string(edge) + "_128x128x128";
  Product product(file, formatA, formatB);
  const int wrong = product.wrong(2);
  checkThat(wrong == 0, file + ": " + std::to_string(wrong) + " wrong", __FILE__, __LINE__);
  auto fails = [&](const char* what, const Mistake& with) {
    const int count = product.wrong(1, with);
    checkThat(count > Product::kTile * Product::kTile * 9 / 10,
              file + ", " + what + ": only " + std::to_string(count) + " wrong", __FILE__,
              __LINE__);
  };
  fails("scales of neighbouring lanes swapped", [](Wave& wave) { swapLanes(wave, 16); });
  fails("scales of neighbouring columns swapped", [](Wave& wave) { swapLanes(wave, 17); });
  fails("scales of the neighbouring block", [](Wave& wave) {
    const auto before = wave.shown;
    for (int lane = 0; lane < 64; lane++)
      wave.shown[lane][16] = before[(lane + wave.form.edge) % 64][16];
  });
  fails("another scale byte", [](Wave& wave) { wave.selectors.a = (wave.selectors.a + 1) % 4; });
  fails("another format", [](Wave& wave) { wave.form.b = wave.form.b == 3 ? 4 : 3; });
  if (formatA >= 3 || formatB >= 3) fails("8 bits as one run of 32", asOneRun);
}

}  // namespace

int main(int count, char**) {
  if (std::system("command -v clang-22 > /dev/null") != 0) {
    std::printf("skipped: Triton's kernels for gfx950, because clang-22 is not installed\n");
    return summary();
  }
  for (const int edge : {16, 32}) {
    check("e4m3_e2m1", edge, 3, 0);
    if (count == 1) continue;
    check("e2m1_e2m1", edge, 0, 0);
    check("e4m3_e4m3", edge, 3, 3);
    check("e5m2_e4m3", edge, 4, 3);
  }
  return summary();
}
