/**
 * A libcuda.so.1 that answers what a test tells it to, for states no test machine is in: an old driver, several GPUs, a GPU
 * that is lost. It tests how the addon loads a driver and what it says; it computes nothing.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const source = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int number(const char* name, int missing) {
  const char* text = getenv(name);
  return text ? atoi(text) : missing;
}
/* STUB_GPUS: compute capabilities, "90,120". STUB_NAME: of all of them. STUB_5090: figures of a GeForce RTX 5090. */
static int capability(int device) {
  char text[64];
  const char* all = getenv("STUB_GPUS");
  snprintf(text, sizeof text, "%s", all ? all : "90");
  char* at = strtok(text, ",");
  for (int i = 0; at && i < device; i++) at = strtok(0, ",");
  return at ? atoi(at) : 0;
}
int cuInit(unsigned flags) { return number("STUB_INIT", 0); }
int cuDriverGetVersion(int* version) { *version = number("STUB_VERSION", 13000); return 0; }
int cuGetErrorName(int error, const char** name) { *name = error == 46 ? "CUDA_ERROR_DEVICE_UNAVAILABLE" : "CUDA_ERROR"; return 0; }
int cuGetErrorString(int error, const char** text) { *text = error == 803 ? "system has unsupported display driver / cuda driver combination" : "as told"; return 0; }
int cuDeviceGetCount(int* count) {
  int n = 0;
  while (capability(n)) n++;
  *count = n;
  return 0;
}
int cuDeviceGet(int* device, int index) { *device = index; return index == number("STUB_BROKEN", -1) ? 214 : 0; }
int cuDeviceGetName(char* name, int length, int device) {
  const char* given = getenv("STUB_NAME");
  if (given) snprintf(name, length, "%s", given);
  else snprintf(name, length, "Stub GPU sm_%d", capability(device));
  return 0;
}
int cuDeviceGetUuid_v2(unsigned char* uuid, int device) { memset(uuid, 16 + device, 16); return 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  const int known = capability(device);
  *value = attribute == 75 ? known / 10 : attribute == 76 ? known % 10 : attribute == 16 ? 8 : 0;
  /* Multiprocessors, clocks in kHz, bits of the bus, bytes of L2, shared memory of a block: NVIDIA's RTX Blackwell white paper. */
  const int facts[][2] = {{16, 170}, {13, 2407000}, {36, 14001000}, {37, 512}, {38, 96 << 20}, {97, 99 << 10}};
  if (getenv("STUB_5090")) for (int i = 0; i < 6; i++) if (facts[i][0] == attribute) *value = facts[i][1];
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) { *bytes = (size_t)(getenv("STUB_5090") ? 32 : 8) << 30; return 0; }
int cuDevicePrimaryCtxRetain(void** context, int device) { *context = (void*)1; return number("STUB_CONTEXT", 0); }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuCtxSetCurrent(void* context) { return number("STUB_CURRENT", 0); }
int cuMemGetInfo_v2(size_t* free, size_t* total) { *free = *total = (size_t)8 << 30; return 0; }
`

/** Builds the library into a folder, which LD_LIBRARY_PATH then names. `without`: a function it does not have. */
export function buildStubDriver(folder: string, without?: string): void {
  const all = source + unknownErrors('driver.h', source)
  build(join(folder, 'libcuda.so.1'), without ? all.replace(`int ${without}(`, `int absent(`) : all)
}

/** Libraries beside the driver: there, and failing at all but telling their version. */
const versions = {
  'libnvrtc.so.13':
    'int nvrtcVersion(int* major, int* minor) { *major = 13; *minor = 0; return 0; }\n' +
    'const char* nvrtcGetErrorString(int error) { return "as told"; }',
  'libcublasLt.so.13':
    '#include <stddef.h>\nsize_t cublasLtGetVersion(void) { return 130101; }\n' +
    'const char* cublasLtGetStatusString(int status) { return "as told"; }',
  'libcupti.so.13': 'int cuptiGetVersion(unsigned* version) { *version = 130000; return 0; }'
}
const headers = {
  'libnvrtc.so.13': 'nvrtc.h',
  'libcublasLt.so.13': 'cublasLt.h',
  'libcupti.so.13': 'cupti.h'
}
export type StubLibrary = keyof typeof versions

export function buildStubLibrary(folder: string, library: StubLibrary, without?: string): void {
  const version = versions[library] + '\n'
  const all = version + unknownErrors(headers[library], version)
  build(join(folder, library), without ? all.replace(`int ${without}(`, `int absent(`) : all)
}

/** An NVRTC that is there and compiles nothing: kernels count as available, and the driver's faults are met. */
export function buildStubCompiler(folder: string): void {
  buildStubLibrary(folder, 'libnvrtc.so.13')
}

/** STUB_NVML: what it answers when it starts. STUB_MIG: it knows its devices as instances of a divided GPU. */
const monitorSource = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int nvmlInit_v2(void) { return getenv("STUB_NVML") ? atoi(getenv("STUB_NVML")) : 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned length) { snprintf(text, length, "580.65.06"); return 0; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = (void*)1;
  return strncmp(uuid, getenv("STUB_MIG") ? "MIG-" : "GPU-", 4) == 0 ? 0 : 6;
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* value) { *value = 41; return 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void* processes) { *count = 2; return 0; }
int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* later) { *now = *later = 0; return getenv("STUB_MIG") ? 3 : 0; }
`

export function buildStubMonitor(folder: string): void {
  const all = monitorSource + unknownErrors('nvml.h', monitorSource)
  build(join(folder, 'libnvidia-ml.so.1'), all)
}

/** Every other function that the addon asks for: there, and failing. */
function unknownErrors(header: string, written: string): string {
  const read = (file: string) => readFileSync(join('native/cuda/api', file), 'utf8')
  // Those that hipBLASLt has too stand there behind a prefix.
  const shared = read('matmulFunctions.h').replaceAll('prefix "', '"cublasLt')
  const text = read(header) + (header === 'cublasLt.h' ? shared : '')
  const needed = [...text.matchAll(/"((?:cu|nvrtc|cublasLt|cupti|nvml)[A-Z]\w+)"/g)].map(
    (match) => match[1]!
  )
  return needed
    .filter((name) => !written.includes(` ${name}(`))
    .map((name) => `int ${name}(void) { return 999; }\n`)
    .join('')
}

/** Compiles a library's source. */
export function build(library: string, text: string): void {
  writeFileSync(`${library}.c`, text)
  execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', library, `${library}.c`, '-lm'])
}
