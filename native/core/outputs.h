// Output types of C: conversion from and to double, and distance in units in the last place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend.h"

namespace blockscope {

int outputBytes(OutputType);

// Element `index` of an output buffer as double.
double readOutput(OutputType, const void* buffer, int64_t index);
// Rounds to nearest, ties to even, and stores. Beyond the range: infinity (f16, bf16, f32), the
// largest value (e4m3, e5m2).
void writeOutput(OutputType, double value, void* buffer, int64_t index);
// What `value` becomes when it is stored in the type.
double roundToOutput(OutputType, double value);
// Rewrites a buffer in another type of the same size.
void convertOutput(std::vector<uint8_t>& output, OutputType from, OutputType to);
// How many representable values lie between two numbers, both rounded to the type first; -1 if
// either is NaN.
int64_t ulpDistance(OutputType, double a, double b);

// Half a unit in the last place of the type at a value, at most.
double outputResolution(OutputType, double value);

// Distance of neighbouring numbers of the type at `value`, of the smaller binade where it is a
// power of two; below the smallest normal number that of the subnormal ones.
double ulpSize(OutputType, double value);

// Sixteen hex digits that are the same for products of the same bits, and but by chance (2^-64) for
// no other: FNV-1a (RFC 9923) over words of eight little-endian bytes, then the length.
std::string digestOf(const std::vector<uint8_t>& output);

uint16_t floatToHalf(float value);
float halfToFloat(uint16_t half);
uint16_t floatToBf16(float value);
float bf16ToFloat(uint16_t bits);

}  // namespace blockscope
