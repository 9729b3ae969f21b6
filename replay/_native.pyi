# Types of the extension module; stubtest holds them against it.
__all__ = ["build_profile"]

build_profile: str
