// The product that widens beside its tiles, in mxfp4, whose C in float16 the copy engine stores.
#define A_FORMAT 0
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#define OUTPUT_TYPE 0
#include "widenedProduct.h"
