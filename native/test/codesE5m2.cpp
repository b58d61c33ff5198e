// wgmma's product of codes in mxfp6 by e5m2: A of six bits, B of eight.
#define A_FORMAT 2
#define B_FORMAT 4
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#include "groupsOfCodes.h"
