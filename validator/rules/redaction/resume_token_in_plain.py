"""A resume token stands in the stream by its value.

Why: whoever reads the stream can take the channel over; only the peer holds the token.
Trips: channel.connected with resume_token.  Near miss: channel.connected with resume_token_ref.
Fix: Store the token where the peer can fetch it, and carry a reference to it.
"""

from validator.redact import is_marker, masked_pointer
from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, Leaks, ResumeTokens, resume_tokens, unnamed


@rule(
    "RED018",
    "resume-token-in-plain",
    clauses={"agent-runtime": "CHAN-14"},
    on=TOLD,
    needs=(Leaks, ResumeTokens),
    quiet=unnamed,
)
def check(step, world, context):
    if "token" not in world.ledger(Leaks).traits(step).names:
        return
    sent = world.ledger(ResumeTokens).sent
    for segments, value in resume_tokens(step.line):
        if not isinstance(value, str) or is_marker(value):
            continue
        yield seen()
        plain = segments[-1] == "resume_token"
        if plain or value in sent:
            yield finding(
                step,
                "a reference to the token",
                "a token by its value" if plain else "what a peer sent as the token",
                pointer=masked_pointer(segments, context.canaries),
                witness=() if plain else (sent.get(value),),
                key=str(segments[-1]),
            )
