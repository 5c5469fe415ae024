"""GPUs on machines that have none: devices, libraries and kernels, on the host's memory and processor."""
