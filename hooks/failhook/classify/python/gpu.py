"""Accelerators and collectives: broken devices, memory, programming errors, lost peers."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import has, like, one_of
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    INFRA,
    LIKELY,
    UNKNOWN,
    Rule,
    Take,
    Tier,
)
from failhook.details import Hint

_XID: Final = "https://docs.nvidia.com/deploy/xid-errors/"
_CUDA: Final = "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"
_NCCL: Final = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api/types.html"
_NVML: Final = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/48"
_TORCH_MEMORY: Final = "https://pytorch.org/docs/stable/notes/cuda.html#memory-management"
_WATCHDOG: Final = "https://pytorch.org/docs/stable/distributed.html"

_BROKEN: Final = one_of(
    *("46", "48", "62", "63", "64", "74", "79", "92", "94", "95", "119", "120", "136", "140"),
    *("142", "143", "144", "145"),
)
_OF_THE_PROGRAM: Final = one_of("13", "31", "43", "45")

GPU: Final = (
    Rule(
        id="gpu.ecc",
        tier=Tier.HARDWARE,
        when={
            "text.gpu": like(
                r"(?m)(?:^|CUDA (?:driver )?error: )uncorrectable (?:ECC|NVLink) error (?:enc|det)"
                r"|CUDA_ERROR_ECC_UNCORRECTABLE|CUDA_ERROR_NVLINK_UNCORRECTABLE"
                r"|cudaErrorECCUncorrectable|cudaErrorNvlinkUncorrectable"
                r"|\bNVRM: [^\n]{0,60}(?:[Uu]ncorrectable|[Dd]ouble[- ][Bb]it) (?:ECC|error)"
            )
        },
        kind=INFRA,
        reason="HardwareFailure",
        deterministic=False,
        confidence=Take("gpu.sure"),
        hint=Hint.OTHER_NODE,
        message="The device has an uncorrectable memory or link error.",
        because="An uncorrectable error is a defect of the device, whatever exception it caused.",
        source=_XID,
    ),
    Rule(
        id="gpu.xid",
        tier=Tier.HARDWARE,
        when={"gpu.xid": _BROKEN},
        kind=INFRA,
        reason="HardwareFailure",
        deterministic=False,
        confidence=Take("gpu.sure"),
        hint=Hint.OTHER_NODE,
        message="The driver reports a fault of the device: Xid {gpu.xid}.",
        because="The driver names a fault of the device, whatever exception it caused.",
        source=_XID,
    ),
    Rule(
        id="gpu.lost",
        tier=Tier.HARDWARE,
        when={
            "text.gpu": like(
                r"(?m)\bGPU [^\n]{0,40}has fallen off the bus|(?:^|NVML: )GPU is lost"
                r"|(?:^|[:\]] )Unable to determine the device handle for [Gg][Pp][Uu]"
            )
        },
        kind=INFRA,
        reason="HardwareFailure",
        deterministic=False,
        confidence=Take("gpu.sure"),
        hint=Hint.OTHER_NODE,
        message="The driver lost the device.",
        because="The driver does not reach the device any more, whatever exception that caused.",
        source=_XID,
    ),
    Rule(
        id="gpu.busy",
        tier=Tier.HARDWARE,
        when={
            "text.gpu": has(
                "CUDA error: CUDA-capable device(s) is/are busy or unavailable",
                "all CUDA-capable devices are busy or unavailable",
                "cudaErrorDevicesUnavailable",
                "CUDA_ERROR_DEVICE_UNAVAILABLE",
                "CUDA error: system not yet initialized",
                "CUDA_ERROR_SYSTEM_NOT_READY",
            )
        },
        kind=INFRA,
        reason="HardwareFailure",
        deterministic=False,
        hint=Hint.OTHER_NODE,
        message="The device cannot be used on this node.",
        because="The node offers a device that it cannot give: it is held, or in a bad state.",
        source=_CUDA,
    ),
    Rule(
        id="gpu.nvml-unknown",
        tier=Tier.HARDWARE,
        when={
            "text.gpu": like(r"(?m)(?:^|[:\]] )Failed to initialize NVML: (?:Unknown Error|GPU is)")
        },
        kind=INFRA,
        reason="HardwareFailure",
        deterministic=False,
        hint=Hint.OTHER_NODE,
        message="The container lost its access to the device.",
        because="The container runtime took the device away from a running container.",
        source=_NVML,
    ),
    Rule(
        id="gpu.driver-mismatch",
        tier=Tier.HARDWARE,
        when={
            "text.gpu": like(
                r"(?m)(?:^|[:\]] )Failed to initialize NVML: Driver/library version mismatch"
            )
        },
        kind=INFRA,
        reason="HardwareFailure",
        deterministic=False,
        hint=Hint.OTHER_NODE,
        message="The node's driver was replaced, and its kernel module is still the old one.",
        because="Kernel module and library of the driver differ: an upgrade without a restart.",
        source=_NVML,
        next_step="Restart the node, or reload its driver.",
    ),
    Rule(
        id="gpu.out-of-memory",
        tier=Tier.HARDWARE,
        when={
            "text.gpu": like(
                r"(?:CUDA|HIP|MPS backend|XPU) out of memory|CUDA error: out of memory"
                r"|CUDA_ERROR_OUT_OF_MEMORY|CUBLAS_STATUS_ALLOC_FAILED|cudaErrorMemoryAllocation"
                r"|OOM when allocating tensor"
                r"|RESOURCE_EXHAUSTED: Out of memory while trying to allocate"
                r"|Out of memory allocating \d{1,20} bytes"
            )
        },
        kind=APPLICATION,
        reason="GpuOutOfMemory",
        confidence=CONFIRMED,
        hint=Hint.MORE_MEMORY,
        message="The device's memory did not suffice.",
        because="An allocation on the device was refused.",
        source=_TORCH_MEMORY,
    ),
    Rule(
        id="gpu.programming-error",
        tier=Tier.HARDWARE,
        when={
            "text.gpu": like(
                r"device-side assert triggered|an illegal memory access was encountered"
                r"|CUDA error: hardware stack error|cudaErrorHardwareStackError"
                r"|misaligned address"
                r"|CUDA error: (?:invalid (?:argument|configuration argument"
                r"|device function|device ordinal"
                r"|resource handle|program counter)|an illegal instruction)"
                r"|too many resources requested for launch"
            )
        },
        kind=APPLICATION,
        reason="NativeCrash",
        message="Code on the device did something that it may not do.",
        because="The device stopped a kernel for what the kernel itself did.",
        source=_CUDA,
    ),
    Rule(
        id="gpu.programming-error.xid",
        tier=Tier.HARDWARE,
        when={"gpu.xid": _OF_THE_PROGRAM},
        kind=APPLICATION,
        reason="NativeCrash",
        message="The driver stopped the program: Xid {gpu.xid}.",
        because="The driver names a fault of the program, not of the device.",
        source=_XID,
    ),
    Rule(
        id="gpu.no-kernel-image",
        tier=Tier.HARDWARE,
        when={
            "text.gpu": has(
                "no kernel image is available for execution on the device",
                "CUDA driver version is insufficient for CUDA runtime version",
                "provided PTX was compiled with an unsupported toolchain",
            )
        },
        kind=APPLICATION,
        reason="CodeLoadError",
        deterministic=True,
        message="The installed build does not fit this device or driver.",
        because="The build and the node's device or driver do not fit together.",
        source=_CUDA,
    ),
    Rule(
        id="gpu.watchdog",
        tier=Tier.HARDWARE,
        when={
            "text.gpu": like(
                r"Watchdog caught collective operation timeout"
                r"|Some NCCL operations have failed or timed out"
                r"|NCCL (?:watchdog|collective) [^\n]{0,60}time[d ]?-?out"
            )
        },
        kind=UNKNOWN,
        reason="CollectiveTimeout",
        confidence=GUESS,
        message="A collective operation did not end in time.",
        because="One rank hung, died or fell out of step; the watchdog does not know which.",
        source=_WATCHDOG,
    ),
    Rule(
        id="gpu.peer-lost",
        tier=Tier.HARDWARE,
        when={
            "text.gpu": like(
                r"NCCL error in: [^\n]{0,120}remote process exited or there was a network error"
                r"|(?m:^)ncclRemoteError: |NCCL WARN [^\n]{0,80}Connection (?:reset|refused|closed)"
                r"|(?m:^)\[[\w./]{0,80}gloo/transport/tcp/[\w.:]{1,30}\] "
                r"(?:Connection (?:closed|reset) by peer"
                r"|Read error|Timed out)"
            )
        },
        kind=INFRA,
        reason="PeerLost",
        confidence=LIKELY,
        message="Another rank or the network to it went away.",
        because="This rank only saw that its peer was gone; the peer's own end is the cause.",
        source=_NCCL,
    ),
    Rule(
        id="gpu.rendezvous",
        tier=Tier.HARDWARE,
        when={
            "exception.is": (
                *("torch.RendezvousTimeoutError", "torch.RendezvousConnectionError"),
                *("torch.RendezvousClosedError", "torch.DistStoreError", "torch.DistNetworkError"),
                *("horovod.HorovodInternalError", "horovod.HostsUpdatedInterrupt"),
                "tensorflow.UnavailableError",
            )
        },
        kind=INFRA,
        reason="PeerLost",
        confidence=GUESS,
        message="{exception.line}",
        because="The ranks did not find each other, or lost each other.",
        source="https://pytorch.org/docs/stable/elastic/rendezvous.html",
    ),
    Rule(
        id="gpu.error",
        tier=Tier.HARDWARE,
        when={
            "text.gpu": like(
                r"CUDA error: |CUDA driver error: |CUDA_ERROR_(?:UNKNOWN|LAUNCH_FAILED"
                r"|NO_DEVICE|NOT_INITIALIZED)"
                r"|NCCL (?:error in|Error \d)|ncclSystemError|ncclInternalError"
                r"|ncclUnhandledCudaError"
                r"|cuDNN error: |CUDNN_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR|NOT_INITIALIZED)"
                r"|CUBLAS_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR|NOT_INITIALIZED)|hipError[A-Z]"
            )
        },
        kind=UNKNOWN,
        reason="GpuError",
        confidence=GUESS,
        message="The device's runtime reports an error that has several causes.",
        because="Firmware, driver, other tenants and bad kernels all end in this error.",
        source=_CUDA,
    ),
)
