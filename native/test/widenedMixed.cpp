// The product that widens beside its tiles, in mixed.
#define A_FORMAT 3
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#include "widenedProduct.h"
