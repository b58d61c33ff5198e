// The product that widens beside its tiles, in mxfp8.
#define A_FORMAT 3
#define B_FORMAT 3
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#include "widenedProduct.h"
