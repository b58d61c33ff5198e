// wgmma's product of codes of one problem in W4A16: A of bf16.
#define A_FORMAT 7
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#include "rowsOfCodes.h"
