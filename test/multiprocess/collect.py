# The oracle: prints the pages that prometheus_client makes of directories. Each line of stdin is a JSON object: either
# {"path": …}, a directory, or {"files": {name: base64 of its bytes}}, files in the order in which the library shall read
# them. Each line of stdout is {"page": …} or {"error": …}.
import base64
import json
import sys

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client import multiprocess
from prometheus_client.mmap_dict import MmapedDict, _read_all_values


class Merged:
    def __init__(self, files):
        self.files = files

    def collect(self):
        return multiprocess.MultiProcessCollector.merge(list(self.files))


read_file = MmapedDict.read_all_values_from_file


def page_of(request):
    registry = CollectorRegistry()
    if 'path' in request:
        MmapedDict.read_all_values_from_file = staticmethod(read_file)
        multiprocess.MultiProcessCollector(registry, request['path'])
    else:
        files = {name: base64.b64decode(text) for name, text in request['files'].items()}
        # The files are in memory; the library reads and merges them.
        MmapedDict.read_all_values_from_file = staticmethod(
            lambda name: _read_all_values(files[name])
        )
        registry.register(Merged(files))
    return generate_latest(registry).decode()


for line in sys.stdin:
    try:
        answer = {'page': page_of(json.loads(line))}
    except Exception as error:
        answer = {'error': f'{type(error).__name__}: {error}'}
    print(json.dumps(answer), flush=True)
