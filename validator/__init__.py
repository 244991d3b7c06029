"""Judges agent-runtime event streams against a contract that is written down as data."""

__version__ = "0.1.0.dev0"

__all__ = ["__version__", "load_protocol"]


def __getattr__(name: str):
    # Loading the kernel costs a tenth of a second; `--version` must not pay for it.
    if name == "load_protocol":
        from validator.protocol.protocol import load_protocol

        return load_protocol
    raise AttributeError(name)
