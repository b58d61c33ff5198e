extern "C" __global__ void multiply(float* c) {
  c[0] = notDeclared;
}
