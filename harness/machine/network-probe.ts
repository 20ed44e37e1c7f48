/**
 * A shell script for a fresh network namespace: builds what the `netns` runtime builds, a bridge and a second host,
 * cuts and heals the way between them, and asks the kernel each time. Exit status 0 only if all of it holds; else the
 * last line of standard error names the step. The namespace's end removes everything.
 */
export const NETWORK_PROBE = `
set -e
doing='start'
trap '[ $? = 0 ] || echo "failed at: $doing" >&2' EXIT
here=10.255.255.1 there=10.255.255.2

doing='make a bridge'
ip link add lt0 type bridge
ip addr add $here/24 dev lt0
ip link set lt0 up

doing='make a veth pair'
ip link add lt1 type veth peer name lt2
ip link set lt1 master lt0
ip link set lt1 up

doing='start a host in a network namespace of its own'
unshare --net sleep 60 &
host=$!
until [ "$(readlink /proc/$host/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do kill -0 $host; done

doing='move a device into the host'
ip link set lt2 netns $host
on_host() { nsenter --net=/proc/$host/ns/net "$@"; }
on_host ip addr add $there/24 dev lt2
on_host ip link set lt2 up

doing='find the way from the host'
on_host ip route get $here >/dev/null

doing='cut the way with a blackhole route'
on_host ip route add blackhole $here
doing='see that the way is cut'
! on_host ip route get $here >/dev/null 2>&1 || exit 1

doing='heal the way'
on_host ip route del blackhole $here
on_host ip route get $here >/dev/null
`;
