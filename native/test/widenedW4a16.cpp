// The product that widens beside its tiles, in W4A16 with MXFP4 weights.
#define A_FORMAT 7
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#include "widenedProduct.h"
