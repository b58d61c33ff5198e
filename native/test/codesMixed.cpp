// wgmma's product of codes in mixed: A of eight bits.
#define A_FORMAT 3
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#include "groupsOfCodes.h"
