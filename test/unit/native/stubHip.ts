/**
 * A libamdhip64.so.7, a libhiprtc.so.7 and libraries of AMD SMI that answer what a test tells them to, for states no test machine is in. Memory is
 * the host's. hipRTC hands a source to clang where there is one; a launch of mfma_scale's kernel with linear scales multiplies
 * e4m3 by e4m3 on the CPU, and those of the passes turn B and round to e4m3: what reaches them through operands, layouts and
 * arguments is what they would get.
 */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { build } from './stubDriver'

const runtime = `
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int number(const char* name, int missing) {
  const char* text = getenv(name);
  return text ? atoi(text) : missing;
}
int hipInit(unsigned flags) { return number("STUB_INIT", 0); }
int hipRuntimeGetVersion(int* version) { *version = 70125424; return 0; }
const char* hipGetErrorName(int error) { return error == 700 ? "hipErrorIllegalAddress" : "hipError"; }
const char* hipGetErrorString(int error) { return "as told"; }
int hipGetDeviceCount(int* count) { *count = number("STUB_AMD_GPUS", 1); return *count ? 0 : 100; }
int hipGetDevicePropertiesR0600(char* all, int device) {
  if (device == number("STUB_BROKEN", -1)) return 214;
  memset(all, 0, 1472);
  strcpy(all, "AMD Instinct MI355X");
  memcpy(all + 256, "0123456789abcdef", 16);
  *(size_t*)(all + 288) = (size_t)288 << 30;
  *(size_t*)(all + 296) = 160 << 10;
  *(int*)(all + 308) = 64;
  *(int*)(all + 348) = 2400000;
  *(int*)(all + 388) = 256;
  *(int*)(all + 608) = 2000000;
  *(int*)(all + 612) = 8192;
  *(int*)(all + 616) = 4 << 20;
  const char* architecture = getenv("STUB_ARCHITECTURE");
  snprintf(all + 1160, 256, "%s", architecture ? architecture : "gfx950:sramecc+:xnack-");
  return 0;
}
int hipDeviceGetPCIBusId(char* to, int length, int device) { snprintf(to, length, "0000:%02x:00.0", device + 5); return 0; }
int hipSetDevice(int device) { return number("STUB_CONTEXT", 0); }
int hipMemGetInfo(size_t* free, size_t* total) { *free = *total = (size_t)288 << 30; return 0; }
int hipMalloc(void** to, size_t bytes) { *to = malloc(bytes); return number("STUB_MALLOC", 0); }
int hipFree(void* from) { free(from); return 0; }
int hipMemcpy(void* to, const void* from, size_t bytes, int kind) { memcpy(to, from, bytes); return 0; }
int hipMemset(void* to, int value, size_t bytes) { memset(to, value, bytes); return 0; }
/* What flushes a cache of 256 MB has nothing to flush here. */
int hipMemsetAsync(void* to, int value, size_t bytes, void* stream) { if (bytes < (size_t)512 << 20) memset(to, value, bytes); return 0; }
/* An ELF of clang, or what the stub compiler wrote in its place. */
int hipModuleLoadData(void** module, const char* image) { *module = (void*)1; return number("STUB_LOAD", memcmp(image, "\\x7f" "ELF", 4) ? 200 : 0); }
int hipModuleUnload(void* module) { return 0; }
static const char* const names[] = {"", "multiply", "turnPacked", "finish", "readAll", "copyAll"};
int hipModuleGetFunction(void** function, void* module, const char* name) {
  for (size_t i = 1; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i])) return *function = (void*)i, 0;
  return 500;
}
static int launches;
static double e4m3(unsigned char code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double value = exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);
  return code & 128 ? -value : value;
}
/* Bytes of (K, N), as 8-bit codes and linear scales are. */
static void turn(void** given) {
  const unsigned char* from = *(unsigned char**)given[0];
  unsigned char* to = *(unsigned char**)given[1];
  const long N = *(long*)given[2], K = *(long*)given[3];
  for (long n = 0; n < N; n++)
    for (long k = 0; k < K; k++) to[n * K + k] = from[k * N + n];
}
/* To e4m3: the nearest code, the even one of two. */
static void finish(void** given) {
  const float *product = *(float**)given[0], *accumulator = *(float**)given[1], scale = *(float*)given[5];
  for (long i = 0; i < *(long*)given[3]; i++) {
    const double value = (product[i] + (accumulator ? accumulator[i] : 0)) * scale;
    int best = 0;
    for (int code = 1; code < 256; code++) {
      const double now = fabs(e4m3(best) - value), other = fabs(e4m3(code) - value);
      if ((code & 127) != 127 && (other < now || (other == now && code % 2 == 0))) best = code;
    }
    (*(unsigned char**)given[2])[i] = best;
  }
}
int hipModuleLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void* stream, void** given, void** extra) {
  launches++;
  if (number("STUB_LAUNCH", 0)) return number("STUB_LAUNCH", 0);
  if (function >= (void*)4) return 0;
  if (function == (void*)2) return turn(given), 0;
  if (function == (void*)3) return *(int*)given[4] == 3 ? finish(given), 0 : 1;
  const unsigned char *a = *(unsigned char**)given[0], *b = *(unsigned char**)given[1], *sa = *(unsigned char**)given[2], *sb = *(unsigned char**)given[3];
  float* c = *(float**)given[4];
  const int M = *(int*)given[5], N = *(int*)given[6], K = *(int*)given[7];
  const float factor = *(float*)given[8], *accumulator = *(float**)given[9];
  if (getenv("STUB_BESIDE")) c[M * N] = 1;
  if (getenv("STUB_SILENT")) return 0;
  if (gx != (unsigned)((M + 255) / 256 * ((N + 255) / 256)) || bx != 256) return 1;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++)
        sum += ldexp(e4m3(a[i * K + k]) * e4m3(b[j * K + k]), sa[i * (K / 32) + k / 32] + sb[j * (K / 32) + k / 32] - 254);
      c[i * N + j] = sum * factor + (accumulator ? accumulator[i * N + j] : 0);
    }
  return 0;
}
int hipStreamCreateWithFlags(void** stream, unsigned flags) { *stream = (void*)1; return 0; }
int hipStreamDestroy(void* stream) { return 0; }
int hipStreamQuery(void* stream) { return number("STUB_QUERY", 0); }
/* An event knows how many kernels were launched before it; each takes STUB_KERNEL_US. */
int hipEventCreate(void** event) { *event = calloc(1, sizeof(int)); return 0; }
int hipEventDestroy(void* event) { free(event); return 0; }
int hipEventQuery(void* event) { return 0; }
int hipEventRecord(void* event, void* stream) { *(int*)event = launches; return 0; }
int hipEventElapsedTime(float* ms, void* start, void* stop) { *ms = (*(int*)stop - *(int*)start) * number("STUB_KERNEL_US", 250) / 1e3f; return 0; }
`

/**
 * STUB_CLANG: the compiler it stands before; without one the code object is an ELF's first bytes. STUB_COMPILE_MS: how long it
 * takes longer.
 */
const compiler = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>
/* Programs are compiled by several threads at once. */
struct Program { char *source, *code, log[65536]; size_t size; };
int hiprtcVersion(int* major, int* minor) { *major = 7; *minor = 1; return 0; }
const char* hiprtcGetErrorString(int error) { return "HIPRTC_ERROR_COMPILATION"; }
int hiprtcCreateProgram(void** program, const char* text, const char* name, int headers, const char** all, const char** names) {
  struct Program* made = calloc(1, sizeof *made);
  made->source = strdup(text);
  *program = made;
  return 0;
}
int hiprtcDestroyProgram(void** program) { return 0; }
int hiprtcGetProgramLogSize(struct Program* program, size_t* bytes) { *bytes = strlen(program->log) + 1; return 0; }
int hiprtcGetProgramLog(struct Program* program, char* to) { strcpy(to, program->log); return 0; }
int hiprtcGetCodeSize(struct Program* program, size_t* bytes) { *bytes = program->size; return 0; }
int hiprtcGetCode(struct Program* program, char* to) { memcpy(to, program->code, program->size); return 0; }
static size_t readAll(const char* path, char* to, size_t most) {
  FILE* file = fopen(path, "rb");
  const size_t count = file ? fread(to, 1, most, file) : 0;
  if (file) fclose(file);
  return count;
}
/* A line of STUB_COMPILE_LOG: how many are at work, and what this one is made with. */
static void note(int change, int count, const char** options) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static int atWork;
  const char* path = getenv("STUB_COMPILE_LOG");
  if (!path) return;
  pthread_mutex_lock(&mutex);
  atWork += change;
  FILE* file = fopen(path, "a");
  fprintf(file, "%s %d", change > 0 ? "begin" : "end", atWork);
  for (int i = 0; i < count; i++) fprintf(file, " %s", options[i]);
  fputs("\\n", file);
  fclose(file);
  pthread_mutex_unlock(&mutex);
}
static int compile(struct Program* program, int count, const char** options) {
  program->code = malloc(1 << 22);
  /* STUB_REFUSED: an option with which nothing compiles. */
  const char* refused = getenv("STUB_REFUSED");
  for (int i = 0; refused && i < count; i++)
    if (!strcmp(options[i], refused)) { strcpy(program->log, "refused"); return 6; }
  const char *clang = getenv("STUB_CLANG"), *extra = getenv("STUB_OPTION");
  if (!clang) { memcpy(program->code, "\\x7f" "ELF", program->size = 4); return 0; }
  char folder[] = "/tmp/stub-hiprtc-XXXXXX", path[64], command[8192];
  mkdtemp(folder);
  snprintf(path, sizeof path, "%s/source.hip", folder);
  FILE* file = fopen(path, "w");
  fputs(program->source, file);
  fclose(file);
  int length = snprintf(command, sizeof command, "cd %s && %s -x hip --cuda-device-only --no-gpu-bundle-output -nogpulib -nogpuinc", folder, clang);
  for (int i = 0; i < count; i++) length += snprintf(command + length, sizeof command - length, " %s", options[i]);
  snprintf(command + length, sizeof command - length, " %s -S -o code source.hip > log 2>&1", extra ? extra : "");
  const int failed = system(command);
  snprintf(path, sizeof path, "%s/log", folder);
  program->log[readAll(path, program->log, sizeof program->log - 1)] = 0;
  /* What was made is assembly: a linker is not needed to know that the source compiles. */
  snprintf(path, sizeof path, "%s/code", folder);
  program->size = readAll(path, program->code, 1 << 22);
  if (strstr(program->code, "v_mfma_scale_f32") || strstr(program->code, "turnPacked")) memcpy(program->code, "\\x7f" "ELF", 4);
  snprintf(command, sizeof command, "rm -r %s", folder);
  system(command);
  return failed ? 6 : 0;
}
int hiprtcCompileProgram(struct Program* program, int count, const char** options) {
  note(1, count, options);
  if (getenv("STUB_COMPILE_MS")) usleep(atoi(getenv("STUB_COMPILE_MS")) * 1000);
  const int result = compile(program, count, options);
  note(-1, count, options);
  return result;
}
`

/**
 * amdsmi_gpu_metrics_t of an MI355X, revision 1.6: 61 C, 1300 W, 2100 MHz on its fastest die, a joule more each time it is
 * read (65536 units of 15.259 uJ). STUB_METRICS: 'capped' counts time under the power limit, 'hot' under heat, 'partial' tells
 * the temperature alone, 'none' fails. STUB_SMI: what starting answers.
 */
const metrics = `
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static int is(const char* what) {
  const char* given = getenv("STUB_METRICS");
  return given && !strcmp(given, what);
}
static int start(void) { return getenv("STUB_SMI") ? atoi(getenv("STUB_SMI")) : 0; }
static int fill(char* all) {
  static uint64_t reading;
  if (is("none")) return 2;
  memset(all, 255, 4544);
  all[2] = 1;
  all[3] = 6;
  *(uint16_t*)(all + 6) = 61;
  if (is("partial")) return 0;
  reading++;
  *(uint64_t*)(all + 24) = reading * 65536;
  *(uint16_t*)(all + 120) = 1300;
  *(uint16_t*)(all + 312) = 2000;
  *(uint16_t*)(all + 314) = 2100;
  memset(all + 432, 0, 40);
  if (is("capped")) *(uint64_t*)(all + 440) = reading;
  if (is("hot")) *(uint64_t*)(all + 464) = reading;
  return 0;
}
`
const monitors = {
  'libamd_smi.so': `
int amdsmi_init(uint64_t flags) { return flags == 2 ? start() : 1; }
int amdsmi_get_processor_handle_from_bdf(uint64_t bdf, void** processor) { *processor = (void*)1; return bdf == 5 << 8 ? 0 : 31; }
int amdsmi_get_gpu_metrics_info(void* processor, char* all) { return fill(all); }
`,
  'librocm_smi64.so': `
int rsmi_init(uint64_t flags) { return start(); }
int rsmi_num_monitor_devices(uint32_t* count) { *count = 2; return 0; }
/* The second is the one; its partition stands in bits 28 to 31. */
int rsmi_dev_pci_id_get(uint32_t index, uint64_t* id) { *id = index ? 5 << 8 | 3u << 28 : 4 << 8; return 0; }
int rsmi_dev_gpu_metrics_info_get(uint32_t index, char* all) { return index == 1 ? fill(all) : 2; }
`
}

export function buildStubSmi(folder: string, library: keyof typeof monitors): void {
  build(join(folder, library), metrics + monitors[library])
}

/**
 * A hipBLASLt that multiplies e4m3 or e2m1 with a scale per 32 elements into float32, from what it was told: columns first, op(A)
 * transposed. STUB_MATMUL: 'refuses' has no algorithm, 'older' knows no scale modes, 'fails' does not run.
 */
const matmul = `
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef struct { int64_t attributes[64]; int type; int64_t rows, columns, leading; } Described;
static int is(const char* what) {
  const char* given = getenv("STUB_MATMUL");
  return given && !strcmp(given, what);
}
static int make(Described** to) { *to = calloc(1, sizeof **to); return 0; }
static int drop(Described* one) { free(one); return 0; }
int hipblasLtCreate(Described** to) { return make(to); }
int hipblasLtDestroy(Described* one) { return drop(one); }
int hipblasLtMatmulDescCreate(Described** to, int compute, int scale) { make(to); return compute == 2 && scale == 0 ? 0 : 3; }
int hipblasLtMatmulDescDestroy(Described* one) { return drop(one); }
int hipblasLtMatmulDescSetAttribute(Described* one, int attribute, const void* value, size_t bytes) {
  if (attribute > 30 && is("older")) return 3;
  memcpy(&one->attributes[attribute], value, bytes);
  return 0;
}
int hipblasLtMatrixLayoutCreate(Described** to, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  make(to);
  (*to)->type = type, (*to)->rows = rows, (*to)->columns = columns, (*to)->leading = leading;
  return 0;
}
int hipblasLtMatrixLayoutDestroy(Described* one) { return drop(one); }
int hipblasLtMatmulPreferenceCreate(Described** to) { return make(to); }
int hipblasLtMatmulPreferenceSetAttribute(Described* one, int attribute, const void* value, size_t bytes) { return 0; }
int hipblasLtMatmulPreferenceDestroy(Described* one) { return drop(one); }
int hipblasLtMatmulAlgoGetHeuristic(void* handle, void* matmul, void* a, void* b, void* c, void* d, void* preference, int most, char* best, int* found) {
  /* Solution 263, 4096 bytes of workspace, a wave and a half. */
  const float waves = 1.5f;
  *(int*)best = 263, *(size_t*)(best + 24) = 4096;
  memcpy(best + 36, &waves, 4);
  *found = !is("refuses");
  return 0;
}
static double element(const Described* of, const unsigned char* codes, const unsigned char* scales, int64_t k, int64_t column) {
  static const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const int64_t at = column * of->leading + k;
  const int code = of->type == 33 ? codes[at / 2] >> at % 2 * 4 & 15 : codes[at];
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  double value = of->type == 33 ? e2m1[code & 7] : exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);
  if (code & (of->type == 33 ? 8 : 128)) value = -value;
  return ldexp(value, scales[column * (of->rows / 32) + k / 32] - 127);
}
int hipblasLtMatmul(void* handle, Described* what, const float* alpha, const void* a, Described* left, const void* b, Described* right, const float* beta, const void* c, Described* in, float* d, Described* to, const void* algorithm, void* workspace, size_t bytes, void* stream) {
  if (is("fails")) return 5;
  const int64_t* told = what->attributes;
  if ((int)told[0] != 112 || (int)told[31] != 2 || (int)told[32] != 2 || to->type != 0 || *beta != 0) return 3;
  for (int64_t column = 0; column < to->columns; column++)
    for (int64_t row = 0; row < to->rows; row++) {
      double sum = 0;
      for (int64_t k = 0; k < left->rows; k++)
        sum += element(left, a, (void*)told[5], k, row) * element(right, b, (void*)told[6], k, column);
      d[column * to->leading + row] = sum * *alpha;
    }
  return 0;
}
`

/** As ROCm 7 has it, or 6: the file's name says its version. */
export function buildStubMatmul(folder: string, version: '1.0.70000' | '0.12.60400'): void {
  const file = `libhipblaslt.so.${version}`
  build(join(folder, file), matmul)
  symlinkSync(file, join(folder, `libhipblaslt.so.${version[0]}`))
}

/** Builds it into a folder, which LD_LIBRARY_PATH then names. `without`: a function it does not have. */
export function buildStubRuntime(folder: string, without?: string): void {
  build(
    join(folder, 'libamdhip64.so.7'),
    without ? runtime.replace(`int ${without}(`, 'int absent(') : runtime
  )
}

export function buildStubHiprtc(folder: string): void {
  build(join(folder, 'libhiprtc.so.7'), compiler)
}
