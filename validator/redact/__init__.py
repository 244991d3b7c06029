"""Finds private paths and secrets in documents, and masks them in whatever we print.

What counts, and what it weighs where, is data (`schemas/common/1/*-patterns.yaml`); how a text is read is in
`validator.readings`. A find says what kind of thing it is and how long; it never holds the value.
"""

from validator.redact.masking import Segments, canary_forms, mask, masked_pointer
from validator.redact.names import PLACES, Vocabulary, path_fields, vocabulary, words_of
from validator.redact.patterns import Patterns, load_patterns
from validator.redact.scanner import Leak, Survey, clean, exact_survey, is_marker, kind_of, may_hide, scan, survey

__all__ = [
    "PLACES",
    "Leak",
    "Patterns",
    "Segments",
    "Survey",
    "Vocabulary",
    "canary_forms",
    "clean",
    "exact_survey",
    "is_marker",
    "kind_of",
    "load_patterns",
    "mask",
    "masked_pointer",
    "may_hide",
    "path_fields",
    "scan",
    "survey",
    "vocabulary",
    "words_of",
]
