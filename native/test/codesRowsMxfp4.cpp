// wgmma's product of codes of one problem in mxfp4, float16 by the copy engine.
#define OUTPUT_TYPE 0
#define A_FORMAT 0
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#include "rowsOfCodes.h"
