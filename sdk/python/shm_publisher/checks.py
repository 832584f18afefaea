"""Checks the arguments of a publisher.  Each function returns the argument in the form in which it is stored, or raises
ValueError, which names the argument, what was found and what is allowed."""
import re
import reprlib
from math import isfinite, isnan

from .layout import BOOL, F64, HISTOGRAM, I64, MAX_LABELS, MAX_SCHEMA, STRING, SUMMARY, U64

AMOUNT = 0                                                                      # the "type" of an amount for add()
RANGES = {U64: (0, 2**64 - 1), I64: (-2**63, 2**63 - 1), AMOUNT: (1 - 2**64, 2**64 - 1)}
ALLOWED = {F64: "numbers", BOOL: "True and False",
           **{t: f"integers from {least} to {most}" for t, (least, most) in RANGES.items()}}


def shown(value):
    """Returns a shortened text of a value, for messages."""
    try:
        return reprlib.repr(value)
    except ValueError:                                      # an integer with thousands of digits
        return f"{type(value).__name__} with too many digits"


def checked_utf8(text, what):
    try:
        if isinstance(text, str):
            return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{what}: found {shown(text)}, allowed: text without lone surrogates; "
                         'os.fsencode(name).decode(errors="replace") makes one of a file name') from None
    raise ValueError(f"{what}: found {shown(text)}, allowed: text")


def checked_string(text, most, what):
    data = checked_utf8(text, what)
    if len(data) > most:
        raise ValueError(f"{what}: found {shown(text)} with {len(data)} bytes, allowed: at most {most} bytes")
    return data


def checked_number(type_, value, what):
    """Returns a scalar as it is stored.  Raises ValueError if the type cannot hold it.  All values of an update are
    checked before the first store, so no update is stored in part."""
    try:
        if type_ == F64 and not isinstance(value, (str, bytes, bytearray)):
            return float(value)
        if type_ == BOOL and value in (0, 1):
            return int(value)
        if type_ in RANGES and value == int(value) and RANGES[type_][0] <= value <= RANGES[type_][1]:
            return int(value)
    except (TypeError, ValueError, ArithmeticError):         # infinity, and Decimal("sNaN")
        pass
    raise ValueError(f"{what}: found {shown(value)}, allowed: {ALLOWED[type_]}")


def checked_observation(value, what):
    if isnan(value := checked_number(F64, value, what)):
        raise ValueError(f"{what}: found NaN, allowed: numbers, since no bucket counts NaN")
    return value


def checked_numbers(values, what):
    try:
        return [checked_number(F64, value, what) for value in values]
    except TypeError:
        raise ValueError(f"{what}: found {shown(values)}, allowed: a sequence of numbers") from None


def checked_integer(value, least, most, what):
    """Returns `value` if it is an integer from `least` to `most`, else raises ValueError."""
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{what}: found {shown(value)}, allowed: integers from {least} to {most}")
    return value


def checked_schema(type_, values, what):
    schema = checked_numbers(values, what)
    ascends = (len(schema) <= MAX_SCHEMA and all(map(isfinite, schema))
               and all(a < b for a, b in zip(schema, schema[1:])))
    if type_ == HISTOGRAM:
        is_right, allowed = ascends, f"at most {MAX_SCHEMA} finite upper bounds, ascending"
    elif type_ == SUMMARY:
        is_right = ascends and (not schema or 0 <= schema[0] <= schema[-1] <= 1)
        allowed = f"at most {MAX_SCHEMA} quantiles from 0 to 1, ascending"
    else:
        is_right, allowed = not schema, "none, since only histograms and summaries have one"
    if not is_right:
        raise ValueError(f"{what}: found {shown(schema)}, allowed: {allowed}")
    return schema


def checked_series(type_, name, labels, what):
    """Returns the name of a variable that states its metric and labels, as the text formats write it."""
    if not re.fullmatch(r"(?!shm_exporter_)[a-zA-Z_:][a-zA-Z0-9_:]*", name, re.ASCII):
        raise ValueError(f"name of {what}: found {shown(name)}, allowed as a metric's name: letters, digits, _ "
                         "and :, not starting with a digit or shm_exporter_")
    if type_ == STRING:
        raise ValueError(f"labels of {what}: allowed only for numbers, histograms and summaries")
    if not isinstance(labels, dict) or len(labels) > MAX_LABELS:
        raise ValueError(f"labels of {what}: found {shown(labels)}, allowed: a dict with at most {MAX_LABELS} labels")
    own = {HISTOGRAM: "le", SUMMARY: "quantile"}.get(type_)
    for label in labels:
        if not isinstance(label, str) or not re.fullmatch(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*", label) or label == own:
            raise ValueError(f"labels of {what}: found {shown(label)}, allowed: letters, digits and _, not "
                             f"starting with a digit or __{f', and not {own}' if own else ''}")
    pairs = []
    for label, value in labels.items():
        checked_utf8(value, f"label {label} of {what}")
        value = value.replace("\\", r"\\").replace('"', r'\"').replace("\n", r"\n")
        pairs.append(f'{label}="{value}"')
    return f"{name}{{{','.join(pairs)}}}" if pairs else name
