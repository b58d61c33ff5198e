// The product that widens beside its tiles: A of six bits, B in e4m3.
#define A_FORMAT 2
#define B_FORMAT 3
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#include "widenedProduct.h"
