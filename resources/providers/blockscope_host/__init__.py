"""The side of blockscope that runs in Python: loads a file of kernels, gives it operands, times it and takes C back."""
