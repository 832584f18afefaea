#!/bin/sh
# Starts PROGRAM with the Node.js of its release. Works from any folder and through symbolic links.
here=$0
case $here in */*) ;; *) here=./$here ;; esac
while [ -L "$here" ]; do
  link=$(readlink "$here")
  case $link in
    /*) here=$link ;;
    *) here=${here%/*}/$link ;;
  esac
done
root=${here%/*}/..
exec "$root/lib/node" OPTIONS "$root/dist/bin/PROGRAM.js" "$@"
