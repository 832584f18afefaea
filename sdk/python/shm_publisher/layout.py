"""The constants of the segment format (docs/segment-format.md)."""
import struct

U64, I64, F64, BOOL, STRING, HISTOGRAM, SUMMARY = range(1, 8)                   # types
UNKNOWN, COUNTER, GAUGE = range(3)                                              # kinds
INIT, NORMAL, MANUAL_RECOVERY, AUTO_RECOVERY, DEAD, INVALID = range(6)          # states of an object

PAGE, STEP, RECORD_SIZE = 4096, 65536, 64
BUILDING, LIVE, CLOSED, SUPERSEDED = range(4)                                   # states of a segment
STATE, HEARTBEAT, TICK, DIRECTORY = 1024, 1088, 1152, 1216                      # mutable words
STRING_BYTES = (1280, 1344)                                                     # of strings A and B
OBJECTS_DROPPED, VARIABLES_DROPPED = 1408, 1472
OBJECT_RECORD, VARIABLE_RECORD, TOMBSTONE = 1, 2, 3
NO_SLOT = 0xFFFFFFFF
MAX_INCARNATION = 2**31 - 1
MAX_DEPTH, MAX_TEXT, MAX_SCHEMA, MAX_LABELS = 64, 65528, 512, 64
FEATURE_SERIES = FLAG_SERIES = 1                                                # of the header, of a variable
HEADER = struct.Struct("<8sIHHIIQQQQQQQQQQQQQQQQQQQ76x")                        # bytes 0 to 251
RECORD = struct.Struct("<IBBBBIQQI7I")                                          # bytes 4 to 63
FORMATS = {U64: "Q", I64: "q", F64: "d", BOOL: "Q"}
