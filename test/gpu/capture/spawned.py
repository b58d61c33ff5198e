"""Processes started by multiprocessing's spawn, one more than there are GPUs: process i launches torch's spin_kernel
100 * (i + 1) times on GPU i, the last one on the first GPU again.
"""

import torch
import torch.multiprocessing


def work(process):
    with torch.cuda.device(process % torch.cuda.device_count()):
        for _ in range(100 * (process + 1)):
            torch.cuda._sleep(1000)
        torch.cuda.synchronize()


if __name__ == "__main__":
    torch.multiprocessing.spawn(work, nprocs=torch.cuda.device_count() + 1)
