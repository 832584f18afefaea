"""Builds the sdist and the wheel.  It needs only the standard library, so pip installs the package without a network and
without setuptools.  SOURCE_DATE_EPOCH sets the time of all files, so that the same sources give the same bytes."""
import base64
import gzip
import hashlib
import io
import os
import re
import tarfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "shm_publisher"
TEXTS = ("README.md", "LICENSE")
SOURCES = ("pyproject.toml", "build_backend.py", "check.py", "check_metrics.py")
TAG = "py3-none-any"


def _path(name):
    """Returns the path of a file of the package.  The sources have their license two folders above."""
    path, above = (os.path.join(HERE, *folder, name) for folder in ((), ("..", "..")))
    return above if name == "LICENSE" and not os.path.exists(path) and _is_apache(above) else path


def _is_apache(path):
    """Whether a file is the license of the package, and not that of another project which has a copy of this folder."""
    try:
        with open(path, "rb") as file:
            return b"Apache License" in file.read(200)
    except OSError:
        return False


def _read(name):
    with open(_path(name), "rb") as file:
        return file.read()


def _files(folder):
    """Returns the files of a folder, sorted, without those that Python and editors make."""
    return sorted(f"{folder}/{name}" for name in os.listdir(os.path.join(HERE, folder))
                  if name.endswith((".py", ".typed")) and not name.startswith("."))


def _project():
    """Returns the strings of the table [project] of pyproject.toml: Python 3.9 has no reader of TOML."""
    text = _read("pyproject.toml").decode()
    table = text.partition("[project]\n")[2].partition("\n[")[0]
    return dict(re.findall(r'^([a-z-]+) = "(.*)"$', table, re.MULTILINE))


def _texts():
    return [name for name in TEXTS if os.path.exists(_path(name))]


def _metadata():
    project = _project()
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
             f"Summary: {project['description']}", "License: Apache-2.0", f"Requires-Python: {project['requires-python']}",
             "Classifier: License :: OSI Approved :: Apache Software License",
             "Classifier: Operating System :: POSIX :: Linux", "Classifier: Programming Language :: Python :: 3",
             "Classifier: Typing :: Typed", "Description-Content-Type: text/markdown", ""]
    return "\n".join(lines).encode() + b"\n" + _read("README.md")


def _epoch():
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), 315532800)         # zip files begin with 1980


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    stem = f"{PACKAGE}-{_project()['version']}"
    info = f"{stem}.dist-info"
    content = {name: _read(name) for name in _files(PACKAGE)}
    content[f"{info}/METADATA"] = _metadata()
    content[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: {PACKAGE}\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode()
    if "LICENSE" in _texts():
        content[f"{info}/LICENSE"] = _read("LICENSE")
    record = []
    for name, data in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")
    content[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()
    name, when = f"{stem}-{TAG}.whl", time.gmtime(_epoch())[:6]
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in content.items():
            entry = zipfile.ZipInfo(path, when)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    stem = f"{PACKAGE}-{_project()['version']}"
    names = [*SOURCES, *_texts(), *_files(PACKAGE), *_files("examples")]
    content = {name: _read(name) for name in names}
    content["PKG-INFO"] = _metadata()
    name = f"{stem}.tar.gz"
    with open(os.path.join(sdist_directory, name), "wb") as file, \
            gzip.GzipFile("", "wb", 9, file, _epoch()) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in content.items():
            entry = tarfile.TarInfo(f"{stem}/{path}")
            entry.size, entry.mtime, entry.mode = len(data), _epoch(), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return name
