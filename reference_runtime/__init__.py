"""A minimal durable runtime that implements the core lifecycle.

It reads the same contract as the validator (`validator.protocol`) and nothing else of it, so that the two
are independent readings of one specification.
"""

__all__ = ["Runtime"]


def __getattr__(name: str):
    # Loading the contract costs a tenth of a second; `--help` must not pay for it.
    if name == "Runtime":
        from reference_runtime.service import Runtime

        return Runtime
    raise AttributeError(name)
