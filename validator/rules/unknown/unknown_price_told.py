"""A price that is not known was told as if it were.

Why: a budget that adds up unknown prices as low or as nothing is spent before anybody notices.
Trips: cost.estimated with an unknown amount and class low.  Near miss: class and amount are both told as unknown.
Fix: State `unknown` as the class and an honest value as the amount.
"""

from validator.protocol.honest import is_honest, known
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import number

IGNORANCE = ("unknown", "unavailable")
PRICES = ("estimated_total_cost", "input_price_per_million", "output_price_per_million")


def _unknown(value):
    return value in IGNORANCE or (is_honest(value) and value["honest"] in IGNORANCE)


@rule("UNK004", "unknown-price-told", clauses={"agent-runtime": "LIM-1"}, on="cost.estimated")
def check(step, world, context):
    for place in ("payload", "cost_state"):
        body = step.line.get(place)
        if not isinstance(body, dict) or not body.keys() & {"estimated_cost_class", *PRICES}:
            continue
        yield seen()
        word, amount = body.get("estimated_cost_class"), body.get("estimated_total_cost")
        if any(_unknown(body.get(name)) for name in PRICES) and word == "low":
            expected, pointer = "class unknown for a price that is not known", f"/{place}/estimated_cost_class"
            yield finding(step, expected, "low", pointer=pointer, key="low")
        elif _unknown(word) and number(known(amount)) is not None:
            expected, pointer = "an honest amount for a price that is not known", f"/{place}/estimated_total_cost"
            yield finding(step, expected, "a number", pointer=pointer, key="amount")
