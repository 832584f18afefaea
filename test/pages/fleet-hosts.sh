#!/bin/sh
# Runs a command beside three hosts, host-1 to host-3. Each has a network, an /etc and a /dev/shm of its own, and a
# publisher. Must run in a mount and a network namespace of its own. Usage: fleet-hosts.sh COMMAND…
set -e
folder=$HOME/hosts
mkdir "$folder"
mount -t tmpfs tmpfs "$folder"
ip link set lo up
cp /etc/hosts "$folder/names"
for n in 1 2 3; do
  unshare --net --mount --propagation private sh -c 'echo; exec sleep 86400' > "$folder/started-$n" &
  pid=$!
  until [ -s "$folder/started-$n" ]; do sleep 0.1; done
  echo $pid > "$folder/host-$n.pid"
  ip link add "veth$n" type veth peer name eth0 netns $pid
  ip address add "10.9.$n.254/24" dev "veth$n"
  ip link set "veth$n" up
  echo "10.9.$n.1 host-$n" >> "$folder/names"
  mkdir "$folder/etc-$n"
  cp -a /etc/. "$folder/etc-$n"
  mkdir -p "$folder/etc-$n/shm_exporter"
  nsenter --target $pid --net --mount sh -ec "
    ip link set lo up
    ip address add 10.9.$n.1/24 dev eth0
    ip link set eth0 up
    mount --bind $folder/etc-$n /etc
    mount -t tmpfs tmpfs /dev/shm"
  nsenter --target $pid --mount \
    shm_simulator --app ads --server-key 82 --root "host-$n.1.ads" --objects 20 > "$folder/published-$n" 2>&1 &
  until grep -q ready "$folder/published-$n"; do sleep 0.1; done
done
mount --bind "$folder/names" /etc/hosts
exec "$@"
