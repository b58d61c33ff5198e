// The product that widens beside its tiles, in nvfp4.
#define A_FORMAT 0
#define B_FORMAT 0
#define SCALE_FORMAT 6
#define SCALE_BLOCK 16
#include "widenedProduct.h"
