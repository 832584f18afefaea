#!/usr/bin/env bash
# Records the directories of test/data/real: what each library writes, and the page that it makes of it.
# Needs the libraries that scripts/metric-libraries.js fetches. Usage: test/multiprocess/record.sh
set -euo pipefail
cd "$(dirname "$0")"
data=$PWD/../data/real
libraries=${XDG_CACHE_HOME:-$HOME/.cache}/shm_exporter/libraries
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# record NAME DIRECTORY PROGRAM…: PROGRAM reads a request and prints the answer of the oracle.
record() {
  name=$1 directory=$2
  shift 2
  echo "{\"path\": \"$directory\"}" | "$@" >"$work/answer"
  jq -j .page "$work/answer" >"$data/$name.prom"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@1795825971 --mode=u=rwX,go=rX \
    -C "$directory" -cf - . | gzip -9n >"$data/$name.tar.gz"
}

for each in bookworm:0.16.0 trixie:0.21.1; do
  tree=$libraries/python-${each%:*} directory=$work/${each%:*}
  mkdir "$directory"
  export PYTHONPATH=$tree/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1
  PROMETHEUS_MULTIPROC_DIR=$directory /usr/bin/python3 write.py
  record "prometheus_client-${each#*:}" "$directory" /usr/bin/python3 collect.py
done
unset PYTHONPATH

lib=$libraries/ruby-bookworm/usr/lib directory=$work/ruby
machine=$(basename "$lib"/*-linux-gnu)
mkdir "$directory"
ruby() {
  LD_LIBRARY_PATH=$lib/$machine \
    RUBYLIB=$lib/ruby/vendor_ruby:$lib/ruby/3.1.0:$lib/$machine/ruby/3.1.0:$lib/$machine/ruby/vendor_ruby/3.1.0 \
    "$lib/../bin/ruby3.1" "$@"
}
prometheus_multiproc_dir=$directory ruby write.rb
record prometheus-client-mmap-0.16.2 "$directory" ruby collect.rb
